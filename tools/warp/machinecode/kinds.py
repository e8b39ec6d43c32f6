"""What an instruction is: its kind for a histogram, its memory and width."""

from __future__ import annotations

import collections

from warp.machinecode.disassembly import Instruction

SECTOR = 32  # bytes

KINDS = {
    "FP32": "FFMA FADD FMUL FMNMX FMNMX3 FSEL FSET FSETP FSWZADD FCHK FFMA2 FADD2 FMUL2 FFMA32I FADD32I FMUL32I FHADD",
    "FP64": "DFMA DADD DMUL DMNMX DSET DSETP",
    "FP16": "HFMA2 HADD2 HMUL2 HMNMX2 HSET2 HSETP2 HFMA2_MMA HADD2_32I HFMA2_32I HMUL2_32I",
    "tensor": "HMMA IMMA BMMA DMMA QMMA OMMA HGMMA QGMMA IGMMA BGMMA UTCHMMA UTCQMMA UTCIMMA UTCOMMA UTCMXQMMA WARPGROUP",
    "special": "MUFU",
    "integer": (
        "IMAD IADD3 IADD IABS IMNMX VIMNMX VIMNMX3 VIADD VIADDMNMX IDP IDP4A LEA LOP3 LOP PLOP3 SHF SHL SHR BMSK BREV FLO POPC "
        "ISETP ISET SGXT SCATTER ICMP IMUL IADD32I LOP32I VABSDIFF VABSDIFF4 VHMNMX IMAD32I IADD64 ISETP64 LEPC"
    ),
    "move": "MOV MOV32I PRMT SEL CS2R CS2UR S2R S2UR R2P P2R R2UR R2B B2R MOVM GETLMEMBASE PSETP",
    "convert": "I2F F2I F2F I2FP F2FP F2IP I2I I2IP FRND",
    "global": "LDG STG LD ST CCTL CCTLL CCTLT DISCARD APPLYPRIORITY",
    "shared": "LDS STS LDSM STSM LDGSTS LDGDEPBAR LDSM2 STAS",
    "bulk": "UBLKCP UBLKPF UBLKRED UTMALDG UTMASTG UTMAPF UTMAREDG UTMACMDFLUSH UTMACCTL LDTM STTM UTCCP",
    "local": "LDL STL",
    "constant": "LDC LDCU ULDC",
    "atomic": "ATOM ATOMG ATOMS RED REDG REDS REDAS",
    "warp": "SHFL VOTE VOTEU MATCH REDUX CREDUX ELECT",
    "barrier": "BAR DEPBAR MEMBAR ERRBAR FENCE SYNCS WARPSYNC NANOSLEEP ARRIVES ACQBULK CGAERRBAR UCGABAR_ARV UCGABAR_WAIT",
    "control": "BRA EXIT RET CALL BSSY BSYNC BREAK BMOV BRX BRXU JMP JMX KILL YIELD NOP RPCMOV WARPGROUPSET BPT RTT USETMAXREG",
}
KIND_OF = {opcode: kind for kind, opcodes in KINDS.items() for opcode in opcodes.split()}

# opcode -> (memory, what is done to it)
MEMORY = {
    "LDG": ("global", "load"),
    "STG": ("global", "store"),
    "LD": ("generic", "load"),
    "ST": ("generic", "store"),
    "LDS": ("shared", "load"),
    "LDSM": ("shared", "load"),
    "STS": ("shared", "store"),
    "STSM": ("shared", "store"),
    "LDL": ("local", "load"),
    "STL": ("local", "store"),
    "LDGSTS": ("global to shared", "copy"),
    "UBLKCP": ("global to shared", "bulk copy"),
    "UTMALDG": ("global to shared", "bulk copy"),
    "UTMASTG": ("shared to global", "bulk copy"),
    "ATOM": ("generic", "atomic"),
    "ATOMG": ("global", "atomic"),
    "ATOMS": ("shared", "atomic"),
    "RED": ("global", "atomic"),
    "REDG": ("global", "atomic"),
    "REDS": ("shared", "atomic"),
}
WIDTHS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "64": 64, "128": 128, "256": 256, "ENL2": 256}
BULK = "bulk copy"


def kind(instruction: Instruction) -> str:
    """The kind of an instruction, as KINDS has them; what starts with U and is known without it is `uniform`."""
    opcode = instruction.opcode
    if opcode == "IMAD" and "MOV" in instruction.modifiers:
        return "move"
    if opcode in KIND_OF:
        return KIND_OF[opcode]
    if opcode.startswith("U") and (KIND_OF.get(opcode[1:]) or opcode[1:].startswith(("P", "F", "I"))):
        return "uniform"
    return "other"


def memory(instruction: Instruction) -> tuple[str, str, int] | None:
    """(memory, what is done, bits for each thread) of a memory instruction, None of another. Bulk copies have no bits."""
    found = MEMORY.get(instruction.opcode)
    if found is None:
        return None
    if found[1] == BULK:
        return (*found, 0)
    if instruction.opcode in ("LDSM", "STSM"):
        return (*found, 32 * int(next((part for part in instruction.modifiers if part in ("2", "4")), "1")))
    narrow = next((part for part in instruction.modifiers if part in ("U8", "S8", "U16", "S16")), None)
    wide = max((WIDTHS[part] for part in instruction.modifiers if part in WIDTHS), default=32)
    return (*found, WIDTHS[narrow] if narrow else wide)


def histogram(instructions: list[Instruction]) -> collections.Counter[str]:
    """Counter of opcodes, those that are never carried out left out."""
    return collections.Counter(one.opcode for one in instructions if not one.never)


def kinds(instructions: list[Instruction]) -> collections.Counter[str]:
    return collections.Counter(kind(one) for one in instructions if not one.never)


def accesses(instructions: list[Instruction]) -> dict[tuple[str, str, int], int]:
    """Counter of (memory, what is done, bits)."""
    found = (memory(one) for one in instructions if not one.never)
    return collections.Counter(access for access in found if access)


def share(instructions: list[Instruction], opcode: str) -> float:
    """Which part of the instructions has this opcode; 0.0 of none."""
    counted = histogram(instructions)
    return counted[opcode] / sum(counted.values()) if counted else 0.0
