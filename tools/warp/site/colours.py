"""Two quiet colour schemes for code: what is text to the compiler stays text to the eye."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pygments.lexers.c_like import CudaLexer
from pygments.style import Style
from pygments.token import (
    Comment,
    Error,
    Generic,
    Keyword,
    Literal,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Token,
)

# What the lexer takes for a keyword, though C++ has none of that name.
WORDS = ("thread", "fortran")


class Cuda(CudaLexer):
    """CUDA C++, in which all that the schemes below do not colour is plain text. An element for every bracket, name and
    blank would be a third of a chapter's page."""

    def get_tokens_unprocessed(self, text: str, stack: tuple[str, ...] = ("root",)) -> Iterator[tuple[int, Any, str]]:
        for index, token, value in super().get_tokens_unprocessed(text, stack):
            plain = token in (Name, Operator, Punctuation, Text.Whitespace) or value in WORDS
            yield index, Text if plain else token, value


class WarpLight(Style):
    background_color = "#f7f7f5"
    highlight_color = "#e9efe6"
    line_number_color = "#626a62"
    styles = {
        Token: "#1f2421",
        Comment: "#5d6b5f",
        Comment.Preproc: "#7a4a12",
        Comment.PreprocFile: "#7a4a12",
        Keyword: "#9a2450",
        Keyword.Type: "#1f5f8b",
        Name.Builtin: "#1f5f8b",
        Name.Function: "#0f6b50",
        Name.Class: "#1f5f8b",
        Number: "#6a3fa0",
        String: "#8a4a00",
        Literal: "#8a4a00",
        Operator: "#1f2421",
        Punctuation: "#1f2421",
        Generic.Prompt: "#6b746d",
        Generic.Output: "#1f2421",
        Error: "",
    }


class WarpDark(Style):
    background_color = "#191c1b"
    highlight_color = "#26302b"
    line_number_color = "#939b95"
    styles = {
        Token: "#dfe3de",
        Comment: "#93a396",
        Comment.Preproc: "#dcb07a",
        Comment.PreprocFile: "#dcb07a",
        Keyword: "#f08bb0",
        Keyword.Type: "#85c1ea",
        Name.Builtin: "#85c1ea",
        Name.Function: "#6fd1ae",
        Name.Class: "#85c1ea",
        Number: "#c4a6f2",
        String: "#e5b176",
        Literal: "#e5b176",
        Operator: "#dfe3de",
        Punctuation: "#dfe3de",
        Generic.Prompt: "#8d958f",
        Generic.Output: "#dfe3de",
        Error: "",
    }
