"""Links that open a kernel in Compiler Explorer: the kernel, what it needs of its file, and how to compile it.

The address carries all of it, https://godbolt.org/clientstate/BASE64, as Compiler Explorer documents it in docs/API.md:
nothing is stored there, and a page needs no network to be built.
"""

from __future__ import annotations

import base64
import functools
import json
import re

from warp.chapter.functions import find_function, mask

SITE = "https://godbolt.org/clientstate/"
COMPILER = "nvcc125u1"  # NVCC 12.5.1; Compiler Explorer keeps its names
HEADERS = re.compile(r"#\s*include\s*<(?:cuda[^>]*|cooperative_groups[^>]*|cstdint|cstddef)>")
# What a kernel may need besides functions: constants, other names for namespaces, structs.
NAMED = re.compile(
    r"^(?:constexpr\s[^;{]*?\b(?P<constant>\w+)\s*=[^;]*;|namespace\s+(?P<alias>\w+)\s*=[^;]*;"
    r"|struct\s+(?:alignas\(\w+\)\s+)?(?P<struct>\w+)\s*\{.*?^\};)[^\n]*",
    re.MULTILINE | re.DOTALL,
)


@functools.lru_cache(maxsize=8)  # each kernel of a file asks for them
def named(masked: str) -> dict[str, re.Match[str]]:
    """The constants, namespaces and structs of a file, by name."""
    return {name: match for match in NAMED.finditer(masked) for name in match.groups() if name}


def unit(text: str, kernel: str) -> str:
    """A source of its own with a kernel of `text`, such as `copy_struct<PlainFloat4>`, made for these template arguments; "" where
    `text` has no such function."""
    masked = mask(text)
    rows = text.split("\n")
    found = named(masked)
    kept: dict[int, str] = {}  # by place, so that what is needed stands before what needs it
    wanted, seen = [kernel.partition("<")[0]], set()
    wanted += re.findall(r"[A-Za-z_]\w*", kernel.partition("<")[2])
    while wanted:
        name = wanted.pop()
        if name in seen or name.startswith("__"):  # `__device__(size_t i) {` of a lambda is no function
            continue
        seen.add(name)
        if name in found:
            first = masked.count("\n", 0, found[name].start())
            last = masked.count("\n", 0, found[name].end())
        else:
            function = find_function(text, name, masked)
            if function is None:
                continue
            body = "\n".join(masked.split("\n")[function.first - 1 : function.last])
            if not re.search(r"__(global|device)__", body):
                continue
            first, last = function.contract - 1, function.last - 1
        kept[first] = "\n".join(rows[first : last + 1])
        wanted += re.findall(r"[A-Za-z_]\w*", mask(kept[first]))
    if find_function(text, kernel.partition("<")[0], masked) is None:
        return ""
    includes = "\n".join(dict.fromkeys(["#include <cuda_runtime.h>", *HEADERS.findall(text)]))
    parts = [includes, *(kept[place] for place in sorted(kept))]
    if "<" in kernel:  # a template makes no code until somebody asks for it
        parts.append(f"void* const kernel = reinterpret_cast<void*>({kernel});")
    return "\n\n".join(parts) + "\n"


def address(source: str, architecture: str) -> str:
    """Where Compiler Explorer opens a source, compiled for an architecture."""
    compiler = {"id": COMPILER, "options": f"-std=c++20 -O3 -arch={architecture}"}
    state = {"sessions": [{"id": 1, "language": "cuda", "source": source, "compilers": [compiler]}]}
    encoded = base64.b64encode(json.dumps(state, separators=(",", ":")).encode()).decode()
    return SITE + encoded.replace("/", "%2F").replace("+", "%2B").replace("=", "%3D")
