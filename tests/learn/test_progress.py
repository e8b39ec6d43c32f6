"""Where the reader's progress is kept: whole, whatever happens."""

import json
import os
import subprocess
import sys

import fake

ADD = """
import sys
sys.path.insert(0, {tools!r})
from warp.base import progress
for number in range({first}, {first} + 20):
    progress.change(lambda kept: kept.setdefault("numbers", []).append(number))
"""


class Progress(fake.Checkout):
    def python(self, text, **options):
        return subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.PIPE, text=True, **options)

    def script(self, first=0):
        return ADD.format(tools=os.path.join(self.root, "tools"), first=first)

    def file(self):
        return os.path.join(self.root, ".progress.json")

    def kept(self):
        with open(self.file(), encoding="utf-8") as file:
            return json.load(file)

    def test_several_at_once_lose_nothing(self):
        several = [self.python(self.script(first)) for first in (0, 100, 200)]
        for one in several:
            _, said = one.communicate(timeout=60)
            self.assertEqual(one.returncode, 0, said)
        wanted = [first + number for first in (0, 100, 200) for number in range(20)]
        self.assertEqual(sorted(self.kept()["numbers"]), wanted)
        names = sorted(name for name in os.listdir(self.root) if name.startswith(".progress"))
        self.assertEqual(names, [".progress.json", ".progress.json.before"])

    def test_a_damaged_file_is_set_aside(self):
        for damaged in ("{", "[]", ""):
            self.write(".progress.json", damaged)
            _, said = self.python(self.script()).communicate(timeout=60)
            self.assertIn("was damaged; what you have done so far is not known", said)
            self.assertEqual(self.kept()["numbers"], list(range(20)))
            with open(self.file() + ".damaged", encoding="utf-8") as file:
                self.assertEqual(file.read(), damaged)
            os.unlink(self.file() + ".before")

    def test_what_a_damaged_file_was_before_counts(self):
        self.python(self.script()).communicate(timeout=60)
        self.write(".progress.json", "{")
        look = f"import sys; sys.path.insert(0, {os.path.join(self.root, 'tools')!r})\nfrom warp.base import progress\n"
        look += "sys.exit(0 if progress.read()['numbers'] == list(range(19)) else 1)"
        reader = self.python(look)
        _, said = reader.communicate(timeout=60)
        self.assertEqual(reader.returncode, 0, said)
        self.assertIn("all counts that it had before its last change", said)
        _, said = self.python(self.script(100)).communicate(timeout=60)
        self.assertEqual(said.count("was damaged"), 1, said)
        self.assertEqual(self.kept()["numbers"], [*range(19), *range(100, 120)])

    def test_an_edit_that_fails_changes_nothing(self):
        self.python(self.script()).communicate(timeout=60)
        text = self.script().replace("for number", "progress.change(lambda kept: kept.clear() or 1 / 0)\nfor number")
        self.assertIn("ZeroDivisionError", self.python(text).communicate(timeout=60)[1])
        self.assertEqual(self.kept()["numbers"], list(range(20)))
