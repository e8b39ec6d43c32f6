// missing_guard: api-error
#define main not_main
BLANK
