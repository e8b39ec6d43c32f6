// missing_guard: api-error
BLANK
#define for \
  if (false) for
