"""A made-up checkout with three exercises, and a made-up compiler for their checks."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "learn"))

import fake  # noqa: E402

SOURCE = """\
// # {title}
//
// Kind: fill in
// Level: {level}
// Minutes: 2
//
// This is the task of {title}, in more words than ten, with one `TODO` below.

#ifdef SOLUTION
int work() {{ return 1; }}
#else
int work() {{ return 0; }}  // TODO
#endif
"""
NOTES = """\
## Hints

1. First hint of {title}.
2. Second hint.
3. Third hint.

## Explanation

It works because it does what was asked for.

## Alternatives

Nothing else is half as good as this is.
"""
MUTANT = "@@ -9 +9 @@\n-int work() { return 1; }\n+int work() { return %d; }\n"
MUTANTS = f"# one: wrong-result\n{MUTANT % 2}\n# two: wrong-result\n{MUTANT % 3}"


# simtcc: a check passes once the learner's file says "solved"; other words make it fail in other ways. An object holds the path of
# its source. The program that judges is whatever performs: that notes what a check would.
SIMTCC = """\
#!/bin/sh
previous= source= objects= output=
for word; do
  [ "$previous" = -o ] && output=$word
  case $word in
    -c) objects=yes ;;
    *.cu) source=$word ;;
    */mine.o) [ "$previous" = -o ] || read -r source <"$word" ;;
  esac
  previous=$word
done
if [ "$objects" ]; then
  if grep -q unended "$source"; then
    echo "$source:3:3: error: expected ',' or ';' before 'int'" >&2
    exit 1
  fi
  if grep -q nonsense "$source"; then
    echo "$source:9:5: error: 'nonsense' was not declared in this scope" >&2
    exit 1
  fi
  echo "$source" >"$output"
  exit
fi
if [ "$source" ] && grep -q renamed "$source"; then
  echo "check.cu:(.text+0x1): undefined reference to \\`work(float const*, int)'" >&2
  exit 1
fi
if ! [ "$source" ]; then
  printf '#!/bin/sh\\nexec "$2" "$1"\\n' >"$output"
  chmod +x "$output"
  exit
fi
cat >"$output" <<END
#!/bin/sh
note() { echo "{\\"event\\": \\$*}" >>"\\$1"; }
: >"\\$1"
echo '{"event": "case", "case": "n = 1"}' >>"\\$1"
if grep -q ends_early "$source"; then exit 3; fi
if grep -q crashes "$source"; then kill -SEGV \\$\\$; fi
if grep -q prints "$source"; then echo "hello from the kernel"; fi
echo '{"event": "case", "case": "n = 2"}' >>"\\$1"
if grep -q wrong "$source"; then
  echo '{"event": "failure", "kind": "wrong-result", "case": "n = 2", "place": "y[1]", "expected": "2", "got": "7", "wrong": 1, "of": 2, "writer": "block (0,0,0), thread (1,0,0), line 9", "message": "y[1]: expected 2, got 7"}' >>"\\$1"
  echo '{"event": "failed"}' >>"\\$1"; exit 1
fi
if grep -q slow "$source"; then
  echo '{"event": "bar", "name": "launches", "case": "n = 2", "unit": "launches", "is": '\\$(grep -c slow "$source")', "relation": "at most", "bar": 0, "holds": 0, "file": "'"$source"'", "line": 9, "at_line": 1}' >>"\\$1"
  echo '{"event": "failed"}' >>"\\$1"; exit 1
fi
if grep -q solved "$source"; then echo '{"event": "passed"}' >>"\\$1"; exit 0; fi
echo '{"event": "failure", "kind": "out-of-bounds", "case": "n = 2", "file": "'"$source"'", "line": 9, "message": "read of 4 bytes at '"$source"':9 in work"}' >>"\\$1"
echo '{"event": "failed"}' >>"\\$1"
exit 1
END
chmod +x "$output"
"""


# nvcc makes the same programs, but on the GPU the bar that can be missed is another one.
NVCC = SIMTCC.replace(
    "#!/bin/sh\n", "#!/bin/sh\n[ $# -gt 2 ] || {{ {}; exit; }}\n".format(fake.NVCC.split("\n")[1]), 1
).replace("grep -q slow", "grep -q late")


class Checkout(fake.Checkout):
    """self.names: alpha and beta of chapter 01, gamma of chapter 02. Chapter 01 and beta are on the short path."""

    names = ("alpha", "beta", "gamma")

    def setUp(self):
        super().setUp()
        chapter = os.path.join(self.root, "chapters", "01_first_steps", "first_steps.cu")
        text = fake.read(chapter)
        fields = "// Minutes: 10\n// Path: short\n// Afterwards: add two numbers\n"
        self.write(os.path.relpath(chapter, self.root), text.replace("// Size gpu", fields + "// Size gpu", 1))
        for level, name in enumerate(self.names, 1):
            self.add_exercise("02_matrix" if name == "gamma" else "01_first_steps", name, level)
        self.tool("simtcc", SIMTCC, self.home)
        for name in ("chmod",):
            path = os.path.join(self.bin, name)
            if not os.path.exists(path):
                os.symlink("/bin/" + name, path)

    def add_exercise(self, chapter, name, level):
        source = SOURCE.format(title=name.capitalize(), level=level)
        if name == "beta":
            source = source.replace("// Minutes: 2\n", "// Minutes: 2\n// Path: short\n")
        self.write(f"exercises/{chapter}/{name}.cu", source)
        self.write(f"exercises/{chapter}/{name}.md", NOTES.format(title=name.capitalize()))
        self.write(f"exercises/{chapter}/check/{name}.cu", "// the checker\n")
        self.write(f"exercises/{chapter}/check/{name}.diff", MUTANTS)

    def mine(self, name):
        return os.path.join(self.root, "my", "02_matrix" if name == "gamma" else "01_first_steps", name + ".cu")

    def edit(self, name, text):
        """The learner's file says something else from here on."""
        fake.write(self.mine(name), text)

    def read(self, name):
        return fake.read(self.mine(name))

    def backups(self):
        folder = os.path.join(self.root, "my", "backups")
        texts = []
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if not name.startswith("."):
                texts.append(fake.read(os.path.join(folder, name)))
        return texts

    def progress_file(self):
        return os.path.join(self.root, ".progress.json")

    def progress(self):
        try:
            return fake.load(self.progress_file())
        except FileNotFoundError:
            return {}
