"""Builds and programs that fail: the tail of the log, the right exit code, nothing hidden."""

import os

import fake


class Builds(fake.Checkout):
    def test_configuring_fails(self):
        done = self.learn("run", "01", env={"FAKE_CMAKE": "configure-fails"}, code=1)
        self.assertIn("CMake Error: made up", done.stderr)
        self.assertIn("Configuring the simulator build failed (exit code 1)", done.stderr)
        self.assertIn("build/logs/configure-simulator.log", done.stderr)

    def test_building_fails(self):
        done = self.learn("run", "01", env={"FAKE_CMAKE": "build-fails"}, code=1)
        self.assertIn("made_up.cu:7: error: made up", done.stderr)
        self.assertIn("line 59 of the log", done.stderr)
        self.assertNotIn("line 3 of the log", done.stderr)  # the tail only; the log has all
        with open(os.path.join(self.root, "build", "logs", "build-simulator.log")) as file:
            self.assertIn("line 3 of the log", file.read())
        self.assertNotIn("CHAPTER", done.stdout)

    def test_a_failed_configure_is_tried_again(self):
        self.learn("run", "01", env={"FAKE_CMAKE": "configure-fails"}, code=1)
        self.learn("run", "01", code=0)

    def test_a_folder_that_cannot_be_written(self):
        self.write("build", "a file, where the folder should be")
        done = self.learn("run", "01", code=1)
        self.assertIn("cannot write to", done.stderr)
        self.assertIn("WARP_BUILD_DIR", done.stderr)


class Programs(fake.Checkout):
    def test_a_failing_rung(self):
        done = self.learn("run", "01", env={"FAKE_CHAPTER": "fail"}, code=1)
        self.assertIn("FAILED (exit code 1)  1 FAIL, 1 SKIP", done.stdout)
        self.assertNotIn("Next:", done.stdout)

    def test_several_chapters_that_fail(self):
        done = self.learn("run", env={"FAKE_CHAPTER": "fail"}, code=1)
        self.assertEqual(done.stdout.count("FAILED"), 2)

    def test_a_crash(self):
        done = self.learn("run", "01", env={"FAKE_CHAPTER": "crash"}, code=1)
        self.assertIn("FAILED (SIGSEGV)", done.stdout)

    def test_the_programs_own_complaint_about_its_input(self):
        self.assertIn("FAILED (exit code 2)", self.learn("run", "01", env={"FAKE_CHAPTER": "usage"}, code=2).stdout)

    def test_findings_that_nobody_expected(self):
        self.assertIn("FAILED (exit code 86)", self.learn("run", "01", env={"FAKE_CHAPTER": "86"}, code=1).stdout)

    def test_no_results_are_a_failure_and_old_ones_are_not_taken_for_new(self):
        self.learn("run", "01", code=0)
        done = self.learn("run", "01", env={"FAKE_CHAPTER": "silent"}, code=1)
        self.assertIn("no results", done.stdout)
