"""Two quiet colour schemes for code: what is text to the compiler stays text to the eye."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pygments.lexers.c_like import CudaLexer
from pygments.style import Style
from pygments.token import Comment, Generic, Keyword, Literal, Name, Number, Operator, Punctuation, Text, Token

# What the lexer takes for a keyword, though C++ has none of that name.
WORDS = ("thread", "fortran")


class Cuda(CudaLexer):
    """CUDA C++, in which all that the schemes below do not colour is plain text. An element for every bracket, name and
    blank would be a third of a chapter's page."""

    def get_tokens_unprocessed(self, text: str, stack: tuple[str, ...] = ("root",)) -> Iterator[tuple[int, Any, str]]:
        for index, token, value in super().get_tokens_unprocessed(text, stack):
            plain = token in (Name, Operator, Punctuation, Text.Whitespace) or value in WORDS
            yield index, Text if plain else token, value


COLOURS = {  # in the light, in the dark; a kind without a line has the colour of the kind above it
    Token: ("#1f2421", "#dfe3de"),
    Comment: ("#5d6b5f", "#93a396"),
    Comment.Preproc: ("#7a4a12", "#dcb07a"),
    Comment.PreprocFile: ("#7a4a12", "#dcb07a"),
    Keyword: ("#9a2450", "#f08bb0"),
    Keyword.Type: ("#1f5f8b", "#85c1ea"),
    Name.Builtin: ("#1f5f8b", "#85c1ea"),
    Name.Function: ("#0f6b50", "#6fd1ae"),
    Name.Class: ("#1f5f8b", "#85c1ea"),
    Number: ("#6a3fa0", "#c4a6f2"),
    Literal: ("#8a4a00", "#e5b176"),
    Generic.Prompt: ("#6b746d", "#8d958f"),
    Generic.Output: ("#1f2421", "#dfe3de"),
}


class WarpLight(Style):
    background_color = "#f7f7f5"
    highlight_color = "#e9efe6"
    line_number_color = "#626a62"
    styles = {token: light for token, (light, _) in COLOURS.items()}


class WarpDark(Style):
    background_color = "#191c1b"
    highlight_color = "#26302b"
    line_number_color = "#939b95"
    styles = {token: dark for token, (_, dark) in COLOURS.items()}
