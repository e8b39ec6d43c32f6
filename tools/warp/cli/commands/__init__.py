"""One module per command; each has main(arguments) and returns the exit code."""
