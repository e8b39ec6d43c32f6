"""What an ELF file says: symbols of a program, and of a cubin what its kernels find in their constant banks."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

PARAMETER = 0x17  # EIATTR_KPARAM_INFO
WITH_SIZE = 4  # EIFMT_SVAL
OBJECT = 1


@dataclass
class Section:
    name: str
    kind: int
    data: bytes
    link: int
    info: int


@dataclass
class Symbol:
    name: str
    value: int
    size: int
    section: int
    kind: int


@dataclass
class Facts:
    """Of one kernel: [(offset, size)] of its parameters; pieces of banks as rows of the file that execution.py writes."""

    parameters: list = field(default_factory=list)
    pieces: list = field(default_factory=list)


class Image:
    def __init__(self, data: bytes) -> None:
        (at,), (entry, many, names) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<HHH", data, 58)
        rows = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * entry) for i in range(many)]
        strings = data[rows[names][4] : rows[names][4] + rows[names][5]]
        self.sections = [
            Section(_text(strings, row[0]), row[1], b"" if row[1] == 8 else data[row[4] : row[4] + row[5]], *row[6:8])
            for row in rows
        ]
        self.symbols = []
        table = next((one for one in self.sections if one.name == ".symtab"), None)
        if table:
            strings = self.sections[table.link].data
            for name, info, _, section, value, size in struct.iter_unpack("<IBBHQQ", table.data):
                self.symbols.append(Symbol(_text(strings, name), value, size, section, info & 15))

    def section(self, name: Any) -> Any:
        return next((one for one in self.sections if one.name == name), None)


def _text(strings: bytes, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode("utf-8", "replace")


def parameters(image: Any, kernel: Any) -> Any:
    """[(offset, size)] of a kernel's parameters, in their order."""
    info = image.section(".nv.info." + kernel)
    found, at = {}, 0
    while info and at + 4 <= len(info.data):
        form, attribute, size = struct.unpack_from("<BBH", info.data, at)
        at += 4
        if form != WITH_SIZE:
            continue
        if attribute == PARAMETER:
            _, ordinal, offset, rest = struct.unpack_from("<IHHI", info.data, at)
            found[ordinal] = (offset, rest >> 18)
        at += size
    return [found[ordinal] for ordinal in sorted(found)]


def pieces(image: Any, kernel: Any, variables: Any) -> Any:
    """What a kernel finds in its banks, as rows of text; `variables` are those of the simulated program, {name: address}."""
    rows = []
    for number, name in ((2, ".nv.constant2." + kernel), (3, ".nv.constant3")):
        section = image.section(name)
        if section and section.data:
            rows.append(f"bytes {number} 0 {section.data.hex()}")
    for number, section in enumerate(image.sections):
        if section.name == ".nv.constant3":
            for one in image.symbols:
                if one.section == number and one.kind == OBJECT and one.name in variables:
                    rows.append(f"variable 3 {one.value} {variables[one.name]:x} {one.size}")
    relocations = image.section(".rela.nv.constant4")
    for offset, info, addend in struct.iter_unpack("<QQq", relocations.data if relocations else b""):
        one = image.symbols[info >> 32]
        if one.name in variables:
            rows.append(f"address 4 {offset} {variables[one.name] + addend:x} 8")
        elif 0 < one.section < len(image.sections) and image.sections[one.section].data and one.kind == OBJECT:
            data = image.sections[one.section].data[one.value + addend : one.value + one.size]
            rows.append(f"table 4 {offset} {data.hex()}")
    return rows


def variables(program: Any) -> Any:
    """{name: address} of the variables of a program's file."""
    with open(program, "rb") as file:
        image = Image(file.read())
    return {one.name: one.value for one in image.symbols if one.kind == OBJECT and one.section}
