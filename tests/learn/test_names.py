"""Nearest names and option parsing, without a process."""

import unittest

import fake  # noqa: F401  (finds the runner)

from warp.base.errors import UsageError
from warp.base.names import advice, nearest, one_of
from warp.cli import options, table


class Nearest(unittest.TestCase):
    names = ["01_thread_indexing", "02_coalescing", "03_shared_memory"]

    def test_a_typo_finds_its_name(self):
        self.assertEqual(nearest("01_tread_indexing", self.names), ["01_thread_indexing"])

    def test_a_part_finds_the_whole(self):
        self.assertEqual(nearest("coalescin", self.names), ["02_coalescing"])
        self.assertEqual(nearest("shard", self.names), ["03_shared_memory"])

    def test_nothing_is_near_to_nonsense(self):
        self.assertEqual(nearest("qqqq", self.names), [])
        self.assertEqual(nearest("", self.names), [])
        self.assertEqual(nearest("hint", ["points_aligned", "points_aos", "vectors"]), [])
        self.assertEqual(nearest("foo", ["stripes_for_all", "shared"]), [])

    def test_two_letters_in_the_wrong_order(self):
        for word, name in (("rnu", "run"), ("tow", "two"), ("oen", "one")):
            self.assertEqual(nearest(word, ["test", name]), [name])

    def test_best_first_and_few(self):
        near = nearest("add", ["add_guarded", "add_unguarded", "add_truncated", "add_more"])
        self.assertEqual(len(near), 3)

    def test_sentences(self):
        self.assertEqual(one_of(["a", "b", "c"]), "a, b or c")
        self.assertEqual(advice("rnu", ["run", "test"]), "; did you mean run?")
        self.assertEqual(advice("zzz", ["run", "test"], "there is run"), "; there is run")
        self.assertEqual(advice("zzz", ["run", "test"]), "")


class Parsing(unittest.TestCase):
    def parse(self, line):
        words = line.split()
        return options.parse(table.find(words[0]), words[1:])

    def refuse(self, line):
        with self.assertRaises(UsageError) as caught:
            self.parse(line)
        return caught.exception.message

    def test_words_options_and_rest(self):
        found = self.parse("run 01 --rung a --rung=b --size 7 02 --fast")
        self.assertEqual(found.words, ["01", "02"])
        self.assertEqual(found.rung, ["a", "b"])
        self.assertEqual(found.size, ["7"])
        self.assertTrue(found.fast)
        self.assertIsNone(found.json)
        self.assertEqual(self.parse("explain a.cu -- --rung x -- y").rest, ["--rung", "x", "--", "y"])

    def test_a_negative_value_reaches_its_check(self):
        self.assertEqual(self.parse("run --size -5,3").size, ["-5,3"])

    def test_what_stands_behind_two_dashes_is_the_programs(self):
        self.assertEqual(self.parse("run 09 -- --scene rgb").rest, ["--scene", "rgb"])

    def test_unknown_option(self):
        self.assertIn("did you mean --rung?", self.refuse("run --rnug x"))
        self.assertIn("--help", self.refuse("setup --zzzzzz"))
        self.assertIn("stand after --: -- --image", self.refuse("run 09 --image a.png"))
        self.assertNotIn("after --", self.refuse("setup --zzzzzz"))

    def test_missing_and_needless_values(self):
        self.assertIn("--size needs a value", self.refuse("run --size"))
        self.assertIn("--size needs a value", self.refuse("run --size="))
        self.assertIn("--fast takes no value", self.refuse("run --fast=1"))
        self.assertIn("given twice", self.refuse("run --json 1 --json 2"))

    def test_choices(self):
        message = self.refuse("run --backend simulater")
        self.assertIn("did you mean simulator?", message)
        self.assertIn("gpu or simulator", message)

    def test_words_where_none_belong(self):
        self.assertIn("takes no argument 'x'", self.refuse("doctor x"))
        self.assertIn("hands nothing on", self.refuse("list -- x"))


class Table(unittest.TestCase):
    def test_every_command_has_its_code(self):
        import importlib

        for command in table.COMMANDS:
            module = importlib.import_module("warp.cli.commands." + command.module)
            self.assertTrue(callable(module.main), command.name)
            self.assertIn(command.name, command.usage())

    def test_every_action_of_author_has_its_code(self):
        import importlib
        import pathlib

        from warp.cli.commands import author

        for name, (_, code) in author.ACTIONS.items():
            if code.endswith(".py"):
                self.assertEqual(len(list(pathlib.Path(author.paths.ROOT, "tests").rglob(code))), 1, name)
            else:
                self.assertTrue(callable(importlib.import_module("warp." + code).main), name)

    def test_author_leaves_options_to_its_action(self):
        found = self.parse_of("author", "prove", "--backend", "gpu", "--help")
        self.assertEqual((found.words, found.help), (["prove", "--backend", "gpu", "--help"], False))
        self.assertTrue(self.parse_of("author", "--help").help)

    @staticmethod
    def parse_of(command, *words):
        return options.parse(table.find(command), list(words))
