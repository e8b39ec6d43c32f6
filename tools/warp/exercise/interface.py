"""What a checker knows of a learner's file: the declarations of the course's own copy of it, without the insides.

The learner's file is compiled apart and linked with the checker: whatever else stands in it, macros, specialisations or
functions of the checker's names, the checker is compiled without.
"""

from __future__ import annotations

import re

PROGRAM = "program"  # what the main() of a whole program is called beside the checker's


def declarations(text: str) -> str:
    """Types, constants, and the functions that another file can call, of a file of the course's."""
    found = [declaration for item in items(text) if (declaration := declared(item))]
    return "\n".join(["#pragma once", *found]) + "\n"


def functions(text: str) -> list[str]:
    """The names of those functions."""
    found = (declared(item) for item in items(text))
    names = [re.search(r"(\w+)\s*\([^()]*\);$", declaration) for declaration in found if declaration.endswith(");")]
    return list(dict.fromkeys(name[1] for name in names if name))


def declared(item: str) -> str:
    """An item as another file may have it, too; "" where it is that file's own."""
    if item.startswith("#"):
        return item if item.startswith("#include") else ""
    if re.match(r"(struct|class|enum|using|typedef)\b", item):
        return item
    head = re.sub(r"__launch_bounds__\s*\([^()]*\)", "", item.split("{")[0]).strip()
    is_function = item.endswith("}") and head.endswith(")")
    if re.match(r"(constexpr|const)\b", item) and not is_function:
        return item
    of_device = re.search(r"\b__device__\b", head) and not re.search(r"\b__host__\b", head)
    if not is_function or of_device or re.match(r"template\b|.*\b(static|inline|constexpr)\b", head):
        return ""
    return re.sub(r"\bmain\b", PROGRAM, " ".join(head.split())) + ";"


def items(text: str) -> list[str]:
    """What stands at the top level: directives, declarations and definitions, without comments."""
    found, item, depth = [], "", 0
    for line in re.sub(r"//.*", "", text).splitlines(keepends=True):
        if depth == 0 and not item.strip() and line.startswith("#"):
            found.append(line.strip())
            continue
        if line.startswith("#"):
            continue
        for letter in line:
            item += letter
            depth += (letter == "{") - (letter == "}")
            is_type = re.match(r"\s*(struct|class|enum|constexpr\s[^()]*=|const\s[^()]*=)", item)
            if depth == 0 and (letter == ";" or (letter == "}" and not is_type)):
                found.append(item.strip())
                item = ""
    return found
