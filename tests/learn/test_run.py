"""./learn run: the times that stand beside the simulator's counts, and what a newcomer is told first."""

import json

import fake


def recorded(device, *times):
    """A results file: (rung, variant, n, median)."""
    rows = [
        {
            "rung": rung,
            "variant": variant,
            "size": {"n": n},
            "status": "PASS",
            "time_ms": {"median": ms, "p10": ms, "p90": ms, "runs": 9},
        }
        for rung, variant, n, ms in times
    ]
    rows.append({"rung": "two", "size": {"n": 1000}, "status": "SKIP"})
    return json.dumps({"backend": "gpu", "device": device, "date": "d", "commit": "c", "rows": rows})


class Recorded(fake.Checkout):
    """The times of a GPU beside the counts of the simulator."""

    def setUp(self):
        super().setUp()
        self.add_chapter("01_first_steps", "First steps", ("one", "two"), "1000", "100")
        results = "chapters/01_first_steps/results/"
        self.write(
            results + "h200.json",
            recorded("NVIDIA H200", ("one", "", 1000, 0.5), ("one", "tile=2", 1000, 0.25), ("one", "", 77, 9)),
        )
        self.write(results + "h100.json", recorded("NVIDIA H100", ("one", "", 1000, 0.75)))
        self.write(results + "h200_counts.json", "{}")

    def test_the_first_gpu_without_being_asked(self):
        out = self.learn("run", "01", code=0).stdout
        self.assertIn("\nNVIDIA H200\t1000\none\t\t0.5\none\ttile=2\t0.25\n\nchapter 01", out)

    def test_another_or_none(self):
        self.assertIn("NVIDIA H100\t1000\none\t\t0.75\n", self.learn("run", "01", "--times", "H100", code=0).stdout)
        self.assertNotIn("NVIDIA", self.learn("run", "01", "--times", "none", code=0).stdout)
        out = self.learn("run", "--times", "h100", code=0).stdout  # chapter 02 has none
        self.assertEqual(out.count("NVIDIA"), 1)

    def test_what_is_refused(self):
        self.assertIn(
            "--times h300: no such GPU was recorded; did you mean h", self.refused("run", "01", "--times", "h300")
        )
        self.assertIn("legal is h100, h200 or none", self.refused("run", "01", "--times", "t4"))
        self.assertIn("on a GPU the times are measured", self.refused("run", "--backend", "gpu", "--times", "h200"))
        self.write("chapters/01_first_steps/results/h200.json", "{")
        self.assertIn("h200.json: not JSON", self.learn("run", "01", code=1).stderr)


class Newcomer(fake.Checkout):
    def test_five_lines_before_the_first_build_and_never_again(self):
        first = self.learn("run", "01", code=0).stderr.split("Configuring")[0]
        self.assertEqual(len(first.strip().split("\n")), 5, first)
        for words in (
            "Chapter 01, First steps: What does First steps ask?",
            "one row for each of its 2 kernels",
            "chapters/01_first_steps/first_steps.cu, which is the chapter's text",
            "./learn docs makes build/docs/html/chapters/01_first_steps.html",
            "./learn explain 01 --rung one",
        ):
            self.assertIn(words, first)
        for word in ("01", "02"):
            self.assertNotIn("Read first", self.learn("run", word, code=0).stderr)

    def test_who_runs_all_chapters_knows(self):
        self.assertNotIn("Read first", self.learn("run", code=0).stderr)
