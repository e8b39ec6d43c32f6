"""Machine code of NVIDIA GPUs: compiles a source, reads its disassembly, says what is in it.

tools -> code (compiles, caches) -> disassembly (kernels, instructions) -> flow (loops) -> report. `expectations` holds
the compiler to what a chapter states, `digest` tells
whether the machine code of a kernel is still the same.
"""
