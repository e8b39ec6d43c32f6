"""The runs that the repository keeps are what the programs say, and a page takes them where a program is not built."""

import json
import shutil
import unittest

import small

import simulated

from warp.chapter import recording, results, run, source

LABELS = ["course"]
NEEDS = ["site_programs"]


class Repository(unittest.TestCase):
    def test_the_chapters_runs_are_those_of_now(self):
        for main in source.find_chapters(simulated.ROOT / "chapters"):
            with self.subTest(chapter=main.parent.name):
                found = simulated.differences(main, run.build_folder())
                self.assertEqual(found, [], f"./learn author simulated {main.parent.name[:2]} keeps the run of now")

    def test_so_are_those_of_the_programs_that_the_hardware_counted(self):
        kept = run.kept_launches(simulated.ROOT)
        self.assertIsNotNone(kept, "other code: ./learn author simulated")
        self.assertEqual(list(kept), list(simulated.launches()))
        for name, launches in simulated.launches().items():
            self.assertTrue(launches == kept[name], f"{name}: ./learn author simulated keeps the run of now")


class Kept(small.Course):
    def setUp(self):
        super().setUp()
        self.source("Some words.\n")
        self.program(small.SIMULATED)
        self.built = run.program_of(self.main, self.build)
        (self.main.parent / "results").mkdir(exist_ok=True)
        self.fresh = run.kept_run(self.main, self.built, "abc")
        run.pack(self.main, self.built)
        shutil.rmtree(self.build)

    def test_it_is_taken_where_there_is_no_program(self):
        found = run.kept_run(self.main, self.built, "abc")
        self.assertEqual((found.rows, found.trace), (self.fresh.rows, self.fresh.trace))
        self.assertEqual(run.simulated_run(self.main, self.build).rows, found.rows)

    def test_a_recording_that_is_not_in_it_is_named(self):
        found = run.kept_run(self.main, self.built, "abc")
        with self.assertRaisesRegex(results.ResultsError, "no recording of plain is kept: ./learn author simulated"):
            recording.recorded(found, "plain")

    def test_prose_moves_it_along_and_other_code_does_not_take_it(self):
        self.source("Some words.\n\nMore of them.\n")
        self.assertEqual(run.kept_run(self.main, self.built, "abc").rows, self.fresh.rows)
        self.main.write_text(self.main.read_text().replace("x[0] = 1", "x[0] = 2"))
        for ask in (
            lambda: run.kept_run(self.main, self.built, "abc"),
            lambda: run.simulated_run(self.main, self.build),
        ):
            with self.assertRaisesRegex(results.ResultsError, "is not built"):
                ask()

    def test_one_that_is_kept_anew_takes_the_place_of_the_first(self):
        run.kept_run(self.main, self.built, "abc")
        other = json.loads(json.dumps(small.SIMULATED))
        other["rows"][0]["counts"]["global_load_sectors"] += 1
        self.program(other)
        run.kept_run(self.main, self.built, "abc")
        run.pack(self.main, self.built)
        self.assertEqual(run.kept_run(self.main, self.built, "abc").rows[0].counts["global_load_sectors"], 21)
        self.built.unlink()
        self.assertEqual(run.kept_run(self.main, self.built, "abc").rows[0].counts["global_load_sectors"], 21)

    def test_a_program_that_says_something_else_is_named(self):
        other = json.loads(json.dumps(small.SIMULATED))
        other["rows"][0]["counts"]["global_load_sectors"] += 1
        self.program(other)
        self.assertEqual(simulated.differences(self.main, self.build), ["rows"])
        self.program(small.SIMULATED)
        self.assertEqual(simulated.differences(self.main, self.build), [])
