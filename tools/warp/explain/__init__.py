"""The report of ./learn explain: what a trace says, as text, as a page, as SARIF."""
