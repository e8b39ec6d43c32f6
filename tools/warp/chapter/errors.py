"""What can be wrong with a chapter: of the one family of base/errors.py, so that who need not tell them apart does not."""

from warp.base.errors import LearnError


class SourceError(LearnError):
    """What is wrong with a source and what would be right, in one line that starts with file:line."""


class ResultsError(LearnError):
    """What is wrong with a program or a results file, in one line."""


class ExpressionError(LearnError):
    """What is wrong with an expression, in one line."""


class NotRecorded(LearnError):
    """The expression asks for a measurement that was not made yet."""
