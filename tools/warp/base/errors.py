"""What a command raises when it cannot go on: one clear line for the reader, and an exit code."""

from __future__ import annotations


class LearnError(Exception):
    """Something failed: a build, a program, a missing tool. Exit code 1."""

    code = 1

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail  # printed before the message: a log's tail, a compiler's output


class UsageError(LearnError):
    """The reader asked for something that is not there. Exit code 2."""

    code = 2
