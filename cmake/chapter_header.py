#!/usr/bin/env python3
"""Turns the header of a chapter's source into the C++ that tells the chapter's program what it says.

usage: chapter_header.py CHAPTER.cu OUTPUT.cpp [--cublas]

CMake runs it whenever the source has changed. The file is written anew only if the header has changed: an edit
of prose compiles nothing here. With --cublas the build has the library, and a gemm chapter gets its peer.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from pathlib import Path  # noqa: E402

from warp.chapter import header as reader  # noqa: E402


def quoted(text):
    """A string literal; other than ASCII in octal, which ends by itself."""
    safe = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in (text or "").encode()
    )
    return f'"{safe}"'


def generated(header, source, cublas):
    """The C++ of one header."""
    cublas = cublas and header.kind == "gemm"
    lines = [f"// Made by cmake/chapter_header.py from the header comment of {source}.", '#include "lab/header.h"']
    if cublas:
        lines.append('#include "lab/cublas_gemm.h"')
    lines += ["", "static const lab::detail::ThisHeader here(lab::Header{"]
    lines += [
        f"    .{name} = {quoted(value)},"
        for name, value in (
            ("folder", header.folder),
            ("title", header.title),
            ("question", header.question),
            ("kind", header.kind),
            ("size_gpu", header.sizes["gpu"]),
            ("size_simulator", header.sizes["simulator"]),
        )
    ]
    lines.append("    .rungs = {")
    for rung in header.rungs.values():
        needs = ", ".join(quoted(need) for need in rung.needs)
        lines.append(f"        {{{quoted(rung.name)}, {quoted(rung.idea)}, {{{needs}}}, {quoted(rung.raises)}}},")
    lines.append("    },")
    if cublas:
        lines.append("    .use_cublas = lab::use_cublas,")
        lines.append("    .use_cublas_bf16 = lab::use_cublas,")
        lines.append("    .use_cublas_f16 = lab::use_cublas,")
    lines.append("});")
    return "\n".join(lines) + "\n"


def main(arguments):
    cublas = "--cublas" in arguments
    names = [argument for argument in arguments if argument != "--cublas"]
    if len(names) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    try:
        header = reader.read(Path(names[0]))
    except reader.SourceError as error:
        print(error, file=sys.stderr)
        return 2
    text = generated(header, os.path.basename(names[0]), cublas)
    output = Path(names[1])
    if not output.exists() or output.read_text() != text:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
