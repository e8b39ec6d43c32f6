"""README, CONTRIBUTING, the reference and the settings: every command that they name exists, every link leads somewhere."""

import json
import os
import re
import shlex
import subprocess
import unittest

import fake

from warp.base.errors import UsageError
from warp.chapter import chapters
from warp.cli import options, table

TEXTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
REFERENCE = [f"docs/reference/{name}.md" for name in ("commands", "chapter", "recording", "tests", "house")]


def read(name):
    return fake.read(os.path.join(fake.ROOT, name))


def commands_in(text):
    """The `./learn ...` command lines of a text: in back-quotes, or on a line of a code block."""
    found = re.findall(r"`(\./learn[^`]*)`", text)
    for block in re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            match = re.match(r"(\./learn.*?)(?:  +.*)?$", line)
            if match:
                found.append(match.group(1))
    return found


class Commands(unittest.TestCase):
    def check(self, line):
        words = shlex.split(line)[1:]
        if not words or words[0] in ("--help", "--version", "COMMAND"):
            return
        command = table.find(words[0])
        self.assertIsNotNone(command, line)
        options.parse(command, words[1:])  # raises for an option that is not there

    def test_commands_of_the_texts(self):
        for name in TEXTS + REFERENCE:
            lines = commands_in(read(name))
            self.assertTrue(lines or name in ("CHANGELOG.md",), name)
            for line in lines:
                with self.subTest(text=name, line=line):
                    self.check(line)

    def test_the_help_has_each_command_once(self):
        grouped = [name for _, names in table.GROUPS for name in names]
        self.assertEqual(sorted(grouped), sorted(command.name for command in table.visible()))

    def test_the_check_itself_fails_on_a_wrong_command(self):
        with self.assertRaises(AssertionError):
            self.check("./learn rnu")
        with self.assertRaises(UsageError):
            self.check("./learn run --bakend gpu")
        self.assertEqual(
            commands_in("x `./learn run` y\n```\n./learn setup --all   why\n```\n"),
            ["./learn run", "./learn setup --all"],
        )

    def test_the_reference_names_every_command(self):
        text = read("docs/reference/commands.md")
        for command in table.visible():
            self.assertIn(f"`./learn {command.name}`", text)

    def test_commands_of_the_chapters_headers(self):
        for chapter in chapters.all_chapters():
            self.assertEqual(chapter.problem, "")
            for rung in chapter.rungs:
                self.check(f"./learn run {chapter.number} --rung {rung}")


class Links(unittest.TestCase):
    def test_local_links(self):
        for name in TEXTS:
            for target in re.findall(r"\]\(([^)#]+)[^)]*\)", read(name)):
                if "://" not in target:
                    self.assertTrue(os.path.exists(os.path.join(fake.ROOT, target)), f"{name}: {target}")

    def test_one_text_lists_the_chapters(self):
        """A chapter is its folder: other lists of all of them would have to be kept. That of the README is tested against the
        headers by tests/course/test_header.py."""
        for name in set(TEXTS) - {"README.md"}:
            listed = [
                chapter.key
                for chapter in chapters.all_chapters()
                if chapter.question and chapter.question in read(name)
            ]
            self.assertEqual(listed, [], name)


class Version(unittest.TestCase):
    def test_one_file_has_it_and_the_others_say_the_same(self):
        version = read("VERSION").strip()
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        self.assertIn(f"\nversion: {version}\n", read("CITATION.cff"))
        newest = re.findall(r"^## (\d\S*)", read("CHANGELOG.md"), re.MULTILINE)[0]
        self.assertEqual(newest, version)


class Settings(unittest.TestCase):
    def test_they_are_json(self):
        for name in ("settings.json", "launch.json", "tasks.json"):
            json.loads(read(os.path.join(".vscode", name)))
        json.loads(read(os.path.join(".devcontainer", "devcontainer.json")))

    def test_debugging_starts_a_chapter_that_exists(self):
        defaults = {entry["id"]: entry["default"] for entry in json.loads(read(".vscode/launch.json"))["inputs"]}
        chapter = chapters.find(defaults["folder"], chapters.all_chapters())
        self.assertEqual((chapter.key, chapter.name), (defaults["folder"], defaults["program"]))
        self.assertIn(defaults["rung"], chapter.rungs)

    def test_the_container_has_what_setup_brings(self):
        from warp.base import needs

        text = read(".devcontainer/Dockerfile")
        for work in needs.WORK.values():
            for need in work:
                self.assertRegex(text, rf"\b{re.escape(need.package)}(?=\s)")

    def test_continuous_integration_runs_the_readmes_commands(self):
        workflow = read(".github/workflows/ci.yml")
        for command in ("./learn run", "./learn test", ".ci/run", ".ci/run lint"):
            self.assertIn("run: " + command + "\n", workflow)
        self.assertTrue(os.access(os.path.join(fake.ROOT, ".ci", "run"), os.X_OK))
        subprocess.run(["bash", "-n", os.path.join(fake.ROOT, ".ci", "run")], check=True)
        subprocess.run(["sh", "-n", os.path.join(fake.ROOT, "learn")], check=True)


class Sources(unittest.TestCase):
    def sources(self):
        """(name, text) of every Python file of the runner and of what it shares with the site."""
        tree = os.path.join(fake.ROOT, "tools", "warp")
        for place, _, files in os.walk(tree):
            for name in files:
                if name.endswith(".py") and os.path.basename(place) != "templates":
                    file = os.path.join(place, name)
                    yield os.path.relpath(file, tree), fake.read(file)

    def test_they_are_written_for_python_3_9(self):
        import ast

        for name, text in self.sources():
            ast.parse(text, name, feature_version=(3, 9))
        self.assertGreater(len(list(self.sources())), 20)

    def test_they_import_the_standard_library_alone(self):
        import ast
        import sys

        if sys.version_info < (3, 10):
            self.skipTest("this Python cannot name its standard library")
        for name, text in self.sources():
            if name.startswith("site" + os.sep):
                continue  # docs/requirements.txt has what it needs
            for node in ast.walk(ast.parse(text)):
                modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                for module in modules:
                    first = module.split(".")[0]
                    self.assertTrue(first == "warp" or first in sys.stdlib_module_names, f"{name}: {module}")
