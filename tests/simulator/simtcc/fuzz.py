"""fuzz.py SIMTCC: programs made at random of what the rewriter has to read, each with an output that is known beforehand.

    python3 tests/simulator/simtcc/fuzz.py build/simulator/bin/simtcc                      the short run of ./learn test
    nice python3 tests/simulator/simtcc/fuzz.py build/simulator/bin/simtcc --minutes 60    a long one, with seeds of its own
    python3 tests/simulator/simtcc/fuzz.py build/simulator/bin/simtcc --nvcc nvcc          nvcc takes what is made here, too
    python3 tests/simulator/simtcc/fuzz.py build/simulator/bin/simtcc --nvcc nvcc --gpu    and what it makes prints the same on a GPU

A program has many cases, a namespace each: a kernel in one of its many spellings, and a launch of it in another. The values
that it writes are worked out here, by other rules than C++'s: every expression is made together with its value. Between
any two tokens there may be comments, line breaks and continued lines; brackets may be digraphs. Numbers out of the range of the
integer that they are converted to become what PTX says. Programs are compiled with tracing and without. A case that fails is run again by
itself, and is printed.
"""

# ruff: noqa: UP031 -- C++ is full of braces, which str.format() would want twice

import argparse
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time

HEAD = """#include <cstdio>
#include <cstdint>
#include <cuda_runtime.h>
typedef unsigned char Small;
template <int N> struct Number { static constexpr int value = N; };
template <class T, int N = 1> struct Box { T in; static constexpr int value = N; };
template <int A, int B> __host__ __device__ constexpr int second() { return B; }
"""
MAIN = """int main() {
  int* out;
  if (cudaMallocManaged(&out, 64 * sizeof(int))) return 1;
"""
CALL = """  for (int i = 0; i < 64; ++i) out[i] = -1;
  c%d::run(out);
  if (cudaError_t error = cudaDeviceSynchronize()) printf("%%s ", cudaGetErrorString(error));
  printf("case %d:");
  for (int i = 0; i < 64; ++i) if (out[i] != -1) printf(" %%d", out[i]);
  puts("");
"""
TOKEN = re.compile(
    r"""R"x\(.*?\)x" | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])+' | \d[\w.']* | [A-Za-z_]\w* |
        <<< | >>> | <<= | >>= | >> | \.\.\. | :: | -> | << | <= | >= | == | != | && | \|\| | \+\+ | -- | [-+*/%&|^]= | \S""",
    re.VERBOSE | re.DOTALL,
)
DIGRAPHS = {"[": "<:", "]": ":>", "{": "<%", "}": "%>"}
# Name, suffix of a literal, bits of what PTX converts to (of fewer bits the low ones are taken), is it signed.
INTEGERS = [
    ("int", "", 32, True), ("unsigned", "u", 32, False), ("long long", "ll", 64, True), ("unsigned long long", "ull", 64, False),
    ("short", "", 32, True), ("unsigned short", "", 32, False), ("signed char", "", 32, True), ("unsigned char", "", 32, False),
    ("Small", "", 32, False), ("size_t", "ull", 64, False), ("int32_t", "", 32, True),
]  # fmt: skip
NARROW = {"short": 16, "unsigned short": 16, "signed char": 8, "unsigned char": 8, "Small": 8}
NUMBERS = [0.0, 0.75, -0.75, 1.5, -1.5, 127.5, 255.0, -129.0, 300.25, 65537.0, -40000.0, 2.0**31, -(2.0**31), 3e9, -3e9, 2.0**32,
           2.0**33 + 2048, 2.0**63, -(2.0**63), 1.5 * 2.0**63, 2.0**64, 1e30, -1e30, math.inf, -math.inf, math.nan]  # fmt: skip
NOISE = [
    " ",
    "\n",
    "\t",
    "  \n ",
    " /* <<< */ ",
    " /*>>>(*/ ",
    ' // k<<<1, 1>>>("\n',
    " \\\n ",
    " /* ' */ ",
    "/**/",
    "\f",
]
ON_A_LINE = [" ", "\t", " /* <<<1, 1>>>( */ ", " \\\n ", "/**/"]


class Case:
    def __init__(self, number, seed):
        self.random = random.Random(seed)
        self.number = number
        self.globals = []  # declarations, and directives as whole lines
        self.names = 0
        text = self.launch()
        self.text = "\n".join(
            ["namespace c%d {" % number]
            + [line if line.startswith("#") else self.noisy(line, NOISE) for line in self.globals]
            + [self.noisy(text, NOISE), "}  // namespace", ""]
        )

    def chance(self, of):
        return self.random.random() < of

    def one(self, *choices):
        return self.random.choice(choices)

    def name(self, stem):
        self.names += 1
        return "%s%d" % (stem, self.names)

    def noisy(self, text, noise):
        """The same tokens with something else between them."""
        level = self.one(0, 0, 0.1, 0.5)
        digraphs = self.chance(0.15)
        out = []
        for token in TOKEN.findall(text):
            if out and (self.chance(level) or out[-1].endswith("/") or token.startswith("/")):
                out.append(self.random.choice(noise))
            elif out:
                out.append(" ")
            if digraphs and self.chance(0.7):
                token = DIGRAPHS.get(token, token)
            out.append(token)
        return "".join(out)

    def define(self, name, text):
        self.globals.append("#define " + name + " " + self.noisy(text, ON_A_LINE))
        return name.split("(")[0]

    # ---- expressions, each with its value

    def number_text(self, value):
        return self.one(
            str(value), str(value), "0x%X" % value, "%du" % value, "0b%s" % bin(value)[2:], "'\\x%02x'" % value if value < 128 else str(value),
            "int('%s' - '%s')" % (chr(48 + value), "0") if value < 10 else str(value), "sizeof(char[%d])" % value
            if value else "0", "(%d)" % value, "%d'%d" % divmod(value, 10) if value > 9 else str(value),
        )  # fmt: skip

    def constant(self, value, depth=0):
        """An expression with this value, all of it known to the compiler."""
        r = self.random
        kind = r.randrange(16) if depth < 3 else 0
        deeper = depth + 1
        if kind == 1:
            part = r.randint(0, value)
            return "(%s + %s)" % (self.constant(part, deeper), self.constant(value - part, deeper))
        if kind == 2:
            return "(%s >> %d)" % (self.constant(value * 4 + r.randrange(4), deeper), 2)
        if kind == 3:
            return "Number<(%s)>::value" % self.constant(value, deeper)
        if kind == 4:
            return "second<%d, (%s)>()" % (r.randrange(9), self.constant(value, deeper))
        if kind == 5:
            a, b = r.randrange(9), r.randrange(9)
            yes, no = (value, r.randrange(9)) if a < b else (r.randrange(9), value)
            return "(%d < %d ? %s : %s)" % (a, b, self.constant(yes, deeper), self.constant(no, deeper))
        if kind == 6:
            return "Box<Box<int>, (%s)>::value" % self.constant(value, deeper)
        if kind == 7:
            return "(int)%s" % self.one('sizeof("%s")', 'sizeof(R"x(%s)x")') % ("<" * (value - 1)) if value else "0"
        if kind == 8:
            return self.define(self.name("C%d_VALUE" % self.number), "(" + self.constant(value, deeper) + ")")
        if kind == 9:
            function = self.name("C%d_PLUS" % self.number)
            part = r.randint(0, value)
            self.define(function + "(a, b)", "((a) + (b))")
            return "%s((%s), (%s))" % (function, self.constant(part, deeper), self.constant(value - part, deeper))
        if kind == 10:
            return "static_cast<int>(%s)" % self.constant(value, deeper)
        if kind == 11:
            return "(%s << 1 >> 1)" % self.constant(value, deeper)
        if kind == 12:
            return "(%s & 0xfff)" % self.constant(value, deeper)
        if kind == 13:
            return "int{sizeof(Box<Box<char>>) * %s}" % ("(%s)" % self.constant(value, 3))
        if kind == 14:
            return "(%d > %d) * %d + %s" % (1, 2, 3, self.constant(value, 3))
        return self.number_text(value)

    def on_host(self, value):
        """The same where statements stand."""
        kind = self.random.randrange(8)
        if kind == 0:
            return "[] { return %s; }()" % self.constant(value)
        if kind == 1:
            return "[=](int a) { return a; }(%s)" % self.constant(value)
        if kind == 2:
            return "\"<<<%s>>>(\"[3] - '0'" % value if value < 10 else self.constant(value)
        if kind == 3:
            return "int(zero + %s)" % self.constant(value)
        return self.constant(value)

    # ---- a floating-point number as an integer

    def conversion(self):
        """(type of the parameter, its name, the number as the host writes it, what is then true of it)"""
        name, number = self.name("x"), self.one(*NUMBERS)
        kind, (integer, suffix, bits, signed) = self.one("float", "double"), self.one(*INTEGERS)
        lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if math.isnan(number):
            value = 0 if kind == "float" and bits == 32 else 1 << bits - 1
            text = '(%s)__builtin_nan("")' % kind
        else:
            value = lowest if number <= lowest else highest if number >= highest else int(number)
            text = "(%s)%s__builtin_inf()" % (kind, "-" if number < 0 else "") if math.isinf(number) else "%f" % number
        width = NARROW.get(integer, bits)
        value &= (1 << width) - 1
        if signed and value >> width - 1:
            value -= 1 << width
        literal = "(%d%s - 1)" % (value + 1, suffix) if value < 0 else "%d%s" % (value, suffix)
        one_word = " " not in integer
        converted = self.one(
            "(%s)%s" % (integer, name), "static_cast<%s>(%s)" % (integer, name), "[](%s a) { return a; }(%s)" % (integer, name),
            "%s(%s)" % (integer, name) if one_word else "(%s)(%s)" % (integer, name), "(%s)%s{%s}" % (integer, kind, name),
            "[=] { %s a = %s; return a; }()" % (integer, name), "(true ? (%s)+%s : %s)" % (integer, name, literal),
        )  # fmt: skip
        true = self.one("%s == %s", "!(%s != %s)", "(%s ^ %s) == 0", "(%s - %s == 0)", "!(%s - %s)")
        return kind, name, text, "(%s)" % (true % (converted, literal))

    # ---- a kernel: its declaration, and how to name it

    def kernel(self, shared):
        """(the kernel as a launch may name it, [its parameters' values], the function of index to result)"""
        r = self.random
        name = self.name("k")
        values = [r.randrange(1, 40) for _ in range(r.randrange(4))]
        names = [self.name("p") for _ in values]
        types = [self.one("int", "const int", "unsigned", "long", "double", "const volatile int") for _ in values]
        parameters = ["int* %sout" % self.one("", "const ", "__restrict__ ")]
        conversions = [self.conversion() for _ in range(self.one(0, 0, 1, 3))]
        self.numbers = [text for _, _, text, _ in conversions]
        types += [kind for kind, _, _, _ in conversions]
        names += [name for _, name, _, _ in conversions]
        parameters += ["%s %s%s" % (t, self.one("", "[[maybe_unused]] "), n) for t, n in zip(types, names)]
        parameters = [re.sub(r"^(.*?) (\[\[maybe_unused\]\]) ", r"\2 \1 ", p) for p in parameters]
        result = r.randrange(50)
        value = result + sum(values) + len(conversions)
        body = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
        expression = " + ".join(
            ["%s" % self.constant(result)]
            + ["int(%s)" % n for n in names[: len(values)]]
            + [true for _, _, _, true in conversions]
        )
        if shared:
            body += shared + "s[threadIdx.x] = i; __syncthreads(); i = s[threadIdx.x];"
        body += self.one(
            "out[i] = %s + i;", "if (i >= 0) out[i] = %s + i; else out[0] = 1;", "{ auto v = %s + i; out[i] = v; }",
            "for (int j = 0; j < 1; ++j) out[i] = %s + i;", "atomicAdd(&out[i], %s + i + 1);", "*(out + i) = [=] { return %s + i; }();",
            "const char* text = \"<<<1>>>(\"; out[i] = (%s + i) * (text[0] == '<');",
        ) % expression  # fmt: skip
        bounds = self.one("", "", "__launch_bounds__(64)", "__launch_bounds__(64, 1)")
        head = self.one(
            "__global__ void %s" % bounds, "__global__ %s void" % bounds, "static __global__ void %s" % bounds,
            "[[maybe_unused]] static __global__ void", "void __global__", "extern \"C++\" __global__ void",
            "__attribute__((unused)) static __global__ void", "__global__ void __attribute__((unused))",
        )  # fmt: skip
        signature = "(%s) { %s }" % (", ".join(parameters), body)
        kind = r.randrange(9)
        if kind < 4:
            if self.chance(0.2):
                self.globals.append("%s %s(%s);" % (head, name, ", ".join(parameters)))
            self.globals.append("%s %s%s" % (head, name, signature))
            spelling = self.one(
                name, name, "c%d::%s" % (self.number, name), "::c%d::%s" % (self.number, name), "(%s)" % name
            )
        elif kind < 7:
            argument, passed = self.one(
                ("int N", "%s" % self.number_text(3)), ("int N", "(4 > 2)"), ("int N", "(8 >> 1)"), ("int N", "sizeof(int)"),
                ("class T", "int"), ("class T", "Box<int>"), ("class T", "Box<Box<int>>"), ("class T", "Box<Box<Box<int>>>"),
                ("class T", "Box<Box<int> >"), ("class T, int N = 3", "Box<int, (2 > 1)>"), ("class... T", "int, Box<int, 2>"),
                ("bool B", "(1 < 2)"), ("bool B", "!(1 > 2)"), ("int N", "Number<4>::value"), ("int N", "second<1, 2>()"),
            )  # fmt: skip
            head = re.sub(r'extern "C\+\+" ', "", head)
            self.globals.append("template <%s> %s %s%s" % (argument, head, name, signature))
            spelling = "%s<%s>" % (name, passed)
            if self.chance(0.2):
                spelling = self.define(self.name("C%d_KERNEL" % self.number), spelling)
        else:
            self.globals.append("%s %s%s" % (head, name, signature))
            pointer = self.name("f")
            kinds = ", ".join(["int*"] + [t.replace("const ", "").replace("volatile ", "") for t in types])
            how = r.randrange(3)
            if how == 0:
                self.globals.append("void (*%s)(%s) = %s;" % (pointer, kinds, name))
                spelling = pointer
            elif how == 1:
                self.globals.append("void (*%s[])(%s) = {nullptr, %s};" % (pointer, kinds, name))
                spelling = "%s[%s]" % (pointer, self.constant(1, 2))
            else:
                self.globals.append("struct { void (*f)(%s); } %s = {&%s};" % (kinds, pointer, name))
                spelling = pointer + ".f"
        return spelling, values, value

    def launch(self):
        r = self.random
        blocks, threads = r.randint(1, 4), r.randint(1, 8)
        dynamic = self.chance(0.25)
        shared = self.one("", "", "__shared__ int s[64];", "__shared__ int a, s[8][8 / 8], *b;", "__shared__ __align__(16) int s[64];",
                          "static __shared__ int s[64];", "__shared__ struct { int x; } t; __shared__ int s[8];")  # fmt: skip
        shared = shared.replace("s[8][8 / 8]", "s[64]")
        if dynamic:
            shared = self.one(
                "extern __shared__ int s[];", "extern __shared__ __align__(16) int s[];", "extern int __shared__ s[];"
            )
        kernel, values, value = self.kernel(shared)
        self.expected = " ".join(str(value + i) for i in range(blocks * threads))
        config = [self.one(self.on_host(blocks), "dim3(%s)" % self.on_host(blocks), "dim3{%du, 1}" % blocks)]
        config.append(self.one(self.on_host(threads), "dim3(%s, 1, 1)" % self.on_host(threads)))
        if dynamic or self.chance(0.2):
            config.append(self.on_host(threads * 4 if dynamic else 0))
            if self.chance(0.4):
                config.append(self.one("0", "nullptr", "cudaStream_t{}", "stream"))
        arguments = ["out"] + [self.on_host(v) for v in values] + self.numbers
        launch = "%s<<<%s>>>(%s)" % (kernel, ", ".join(config), ", ".join(arguments))
        if self.chance(0.15) and "stream" not in launch:
            macro = self.name("C%d_LAUNCH" % self.number)
            self.globals.append("#define %s(kernel, ...) " % macro + self.noisy("kernel<<<__VA_ARGS__>>>", ON_A_LINE))
            launch = "%s((%s), %s)(%s)" % (macro, kernel, ", ".join(config), ", ".join(arguments))
        statement = self.one(*STATEMENTS).replace("@", launch)
        function = self.one("void run(int* out) {", "inline void run(int* out) {", "static void run(int* const out) {",
                            "template <class T> void run(T* out) {", "auto run(int* out) -> void {")  # fmt: skip
        return function + " int zero = 0; cudaStream_t stream = 0; (void)stream; (void)zero; " + statement + " }"


STATEMENTS = (
    "@;", "@;", "{ @; }", "if (zero == 0) @; else zero = 1;", "if (zero) ++zero; else @;", "do @; while (zero);",
    "for (int i = 0; i < 1; ++i) @;", "zero = 0, @;", "switch (zero) { case 0: @; break; default:; }", "(void)0; @;",
    "[&] { @; }();", "auto go = [&](auto) { @; }; go(1);", 'const char* text = "k<<<1, 1>>>("; if (text) @;',
    "again: @; if (zero) goto again;", 'const char* text = R"x(")<<<1>>>(")x"; if (text) { @; }',
    "bool less = 1 < 2; if (less && 3 > 2) @;", "int shifted = 1 << 3 >> 3; if (shifted) @;",
    "struct Local { static void go(int* out) { int zero = 0; cudaStream_t stream = 0; (void)stream; (void)zero; @; } }; Local::go(out);",
)  # fmt: skip


def program(cases):
    text = HEAD + "".join(case.text for case in cases) + MAIN
    return text + "".join(CALL % (case.number, case.number) for case in cases) + "  cudaFree(out);\n  return 0;\n}\n"


class Fuzz:
    def __init__(self, simtcc, nvcc, on_gpu, folder):
        self.simtcc, self.nvcc, self.on_gpu, self.folder = simtcc, nvcc, on_gpu, folder
        self.failures = 0

    def run(self, command, limit):
        try:
            done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  encoding="utf-8", errors="replace", timeout=limit)  # fmt: skip
        except subprocess.TimeoutExpired:
            return "hang", "no end after %d s: %s" % (limit, " ".join(command))
        return done.returncode, done.stdout

    def outcome(self, cases, options):
        """What is wrong with a program of these cases, or ""."""
        with open(os.path.join(self.folder, "fuzz.cu"), "w", encoding="utf-8") as file:
            file.write(program(cases))
        wanted = "".join("case %d: %s\n" % (case.number, case.expected) for case in cases)
        compilers = [[self.simtcc, *options, "-w"]]
        if self.nvcc:
            compilers.insert(0, [self.nvcc, "-std=c++17", "-arch=sm_90", "-w", *([] if self.on_gpu else ["-c"])])
        for compiler in compilers:
            status, said = self.run([*compiler, "fuzz.cu", "-o", "fuzz"], 900)
            if status != 0:
                return "%s ends with %s\n%s" % (compiler[0], status, said)
            if compiler[0] == self.nvcc and not self.on_gpu:
                continue
            status, said = self.run(["./fuzz"], 300)
            if status != 0 or said != wanted:
                return "what %s made ends with %s and prints\n%sinstead of\n%s" % (compiler[0], status, said, wanted)
        return ""

    def program(self, seed, count):
        cases = [Case(number, "%d.%d" % (seed, number)) for number in range(count)]
        options = [["--fast", "-O0"], ["--fast", "-O0"], ["--fast"], []][seed % 4]
        if not self.outcome(cases, options):
            return
        alone = 0
        for case in cases:
            wrong = self.outcome([case], options)
            if wrong:
                alone += 1
                print("FAIL seed %d, case %d\n%s\n%s\n" % (seed, case.number, case.text, wrong[:2000]), flush=True)
        if not alone:
            print("FAIL seed %d: only together\n%s" % (seed, self.outcome(cases, options)[:2000]), flush=True)
        self.failures += max(1, alone)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("simtcc", type=os.path.abspath)
    parser.add_argument("--seed", type=int, default=1, help="of the first program")
    parser.add_argument("--programs", type=int, default=2)
    parser.add_argument("--cases", type=int, default=40, help="of each program")
    parser.add_argument("--minutes", type=float, default=0, help="in place of --programs")
    parser.add_argument("--nvcc", help="nvcc has to compile each program, too")
    parser.add_argument("--gpu", action="store_true", help="what nvcc makes runs, too")
    options = parser.parse_args()
    if options.gpu and not options.nvcc:
        parser.error("--gpu needs --nvcc, whose programs it runs")
    began, made = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(options.simtcc, options.nvcc, options.gpu, folder)
        while time.monotonic() - began < options.minutes * 60 if options.minutes else made < options.programs:
            fuzz.program(options.seed + made, options.cases)
            made += 1
    print("%d programs of %d cases, %d failures" % (made, options.cases, fuzz.failures))
    return 1 if fuzz.failures else 0


if __name__ == "__main__":
    sys.exit(main())
