"""Killed or interrupted wherever it writes, no command loses or changes a file of the learner's, nor the progress."""

import concurrent.futures
import itertools
import os
import subprocess

import learner

LABELS = ["exercises", "slow"]
SECONDS = 3600
COST = 60

MINE = "my work\nwrong\n"
COMMANDS = (
    ("start",),
    ("check", "alpha"),
    ("check", "--all"),
    ("hint", "alpha"),
    ("next",),
    ("next", "beta"),
    ("list",),
    ("solution", "alpha", "--anyway"),
    ("reset", "beta", "--yes"),
    ("reset", "--all", "--yes"),
)

# Runs a command of ./learn and ends the process, as a kill would, or interrupts it, before the Nth change to the file system.
# What stands in the files between two of them is what a kill at any moment leaves.
DIES_AT = """
import builtins, os, sys
sys.path.insert(0, {tools!r})
left, how = int(sys.argv[1]), sys.argv[2]
def counting(call):
    def counted(*arguments, **named):
        global left
        left -= 1
        if left == -1 and how == "killed":
            os._exit(137)
        if left == -1:
            raise KeyboardInterrupt
        return call(*arguments, **named)
    return counted
from warp.cli import main as cli
for name in ("link", "rename", "replace", "unlink", "fsync", "makedirs"):
    setattr(os, name, counting(getattr(os, name)))
original = builtins.open
def opening(file, mode="r", *rest, **named):
    return (counting(original) if set(mode) & set("wax+") else original)(file, mode, *rest, **named)
builtins.open = opening
sys.exit(cli.main(sys.argv[3:]))
"""


class Kills(learner.Checkout):
    def prepare(self):
        self.learn("start", code=0)
        self.edit("alpha", "solved")
        self.learn("check", "alpha", code=0)
        for name in self.names:
            self.edit(name, MINE + name)

    def assert_nothing_lost(self, words, moment):
        kept = self.backups()
        for name in self.names:
            mine = self.read(name)
            if words[0] == "reset" and mine != MINE + name:
                self.assertIn("TODO", mine, (words, moment, name))
                self.assertIn(MINE + name, kept, (words, moment, name))
            else:
                self.assertEqual(mine, MINE + name, (words, moment, name))
        progress = self.progress()  # raises unless it is whole
        if words[0] != "reset":
            self.assertTrue(progress["exercises"]["01_first_steps/alpha"].get("passed"), (words, moment))
        self.assertFalse(os.path.exists(self.progress_file() + ".damaged"))
        for name in self.names:
            self.edit(name, MINE + name)

    def test_at_every_change_of_the_file_system(self):
        self.prepare()
        script = self.write("dies.py", DIES_AT.format(tools=os.path.join(self.root, "tools")))
        changes = 0
        for words, how in itertools.product(COMMANDS, ("killed", "interrupted")):
            if words[0] == "reset":
                self.edit("alpha", "solved")
                self.learn("check", "alpha", code=0)
                self.edit("alpha", MINE + "alpha")
            for count in range(300):  # backups within a second are numbered, which takes changes, too
                done = subprocess.run(
                    [learner.sys.executable, script, str(count), how, *words],
                    env=self.environment(),
                    cwd=self.root,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assert_nothing_lost(words, (count, how))
                if done.returncode not in (137, 130):
                    self.assertIn(done.returncode, (0, 1), (words, count, done.stderr))
                    break
            else:
                self.fail(f"{words} never came to its end")
            changes += count
        self.assertGreater(changes, 50)

    def test_two_terminals_at_once(self):
        self.prepare()
        jobs = [
            ("check", "alpha"),
            ("check", "--all"),
            ("hint", "alpha"),
            ("next", "beta"),
            ("start",),
            ("check", "beta"),
        ] * 3
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            done = list(pool.map(lambda words: self.learn(*words), jobs))
        for result in done:
            self.assertNotIn("Traceback", result.stderr)
            self.assertIn(result.returncode, (0, 1))
            self.assertNotIn("learn: ", result.stderr)
        self.assert_nothing_lost(("check",), "together")
        tries = self.progress()["exercises"]["01_first_steps/beta"]["tries"]
        self.assertEqual(tries, 6, "each check counts, whoever else writes the progress")
