"""Terminals and pipes: the progress line, colours, Ctrl-C, two at a time."""

import os
import pty
import re
import select
import signal
import subprocess
import time

import fake

ESCAPE = re.compile(r"\x1b\[")


class Terminal(fake.Checkout):
    def on_terminal(self, *words, env=None):
        """Runs ./learn on a terminal of 80 columns; returns its exit code and all that it wrote."""
        main, side = pty.openpty()
        process = subprocess.Popen(
            self.command(*words),
            env=self.environment(**dict({"TERM": "xterm"}, **(env or {}))),
            cwd=self.root,
            stdin=side,
            stdout=side,
            stderr=side,
        )
        os.close(side)
        written = b""
        while True:
            ready, _, _ = select.select([main], [], [], 120)
            self.assertTrue(ready, "no output for two minutes")
            try:
                chunk = os.read(main, 65536)
            except OSError:
                break
            if not chunk:
                break
            written += chunk
        os.close(main)
        return process.wait(), written.decode()

    def test_one_updating_line_with_the_seconds(self):
        started = os.path.join(self.home, "started")
        code, text = self.on_terminal("run", "01", env={"FAKE_CMAKE": "slow1.2", "FAKE_STARTED": started})
        self.assertEqual(code, 0)
        self.assertRegex(text, r"\r\x1b\[KBuilding chapter 01 for the simulator  0\.\d s  \[1/2\]")
        self.assertRegex(text, r"\r\x1b\[KBuilding chapter 01 for the simulator  1\.\d s")
        self.assertRegex(text, "\r\x1b\\[KBuilding chapter 01 for the simulator \x1b\\[32mdone\x1b\\[0m \\(")

    def test_no_color(self):
        code, text = self.on_terminal("run", "01", env={"NO_COLOR": "1"})
        self.assertEqual(code, 0)
        self.assertNotRegex(text, "\x1b\\[[0-9;]*m")
        code, text = self.on_terminal("--help")
        self.assertRegex(text, "\x1b\\[1m")

    def test_a_dumb_terminal(self):
        code, text = self.on_terminal("run", "01", env={"TERM": "dumb"})
        self.assertEqual(code, 0)
        self.assertNotRegex(text, ESCAPE)
        self.assertIn("Building chapter 01 for the simulator ...", text)

    def test_what_a_column_means_is_told_once(self):
        self.write("mine.cu", "__global__ void mine(int* a) {\n  a[0] = 1;\n}\nint main() {}\n")
        launch = fake.launch("mine", [fake.line(os.path.join(self.root, "mine.cu"), 2, fake.STORED)])
        trace = {"FAKE_TRACE": fake.write_json(os.path.join(self.home, "t.json"), fake.trace_of([launch]))}
        texts = [self.on_terminal("explain", "mine.cu", env=trace)[1] for _ in range(2)]
        piped = self.learn("explain", "mine.cu", env=trace, code=0).stdout
        self.assertEqual([len(re.findall("requests  memory", text)) for text in (*texts, piped)], [1, 0, 1])


class Pipe(fake.Checkout):
    def test_plain_lines(self):
        done = self.learn("run", "01", code=0)
        for text in (done.stdout, done.stderr):
            self.assertNotRegex(text, ESCAPE)
            self.assertNotIn("\r", text)
        self.assertRegex(done.stderr, r"Building chapter 01 for the simulator \.\.\.\n  done \(")
        self.assertNotIn("Building", done.stdout)  # progress is no result

    def test_a_reader_that_goes_away(self):
        process = subprocess.Popen(
            self.command("--help"), env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        process.stdout.close()
        error = process.stderr.read().decode()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(error, "")

    def test_a_locale_without_unicode(self):
        self.add_chapter("03_umlaut", "Größe", ("one", "two"), "1", "1")
        done = subprocess.run(
            self.command("list"), env=self.environment(LC_ALL="C", PYTHONIOENCODING="ascii"), capture_output=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"Gr??e", done.stdout)


class Interrupted(fake.Checkout):
    def interrupt(self, words, env, signal_group, how=signal.SIGINT):
        """Starts ./learn, waits until what it started runs, sends Ctrl-C; returns (learn, pid of the child)."""
        started = os.path.join(self.home, "started")
        process = subprocess.Popen(
            self.command(*words),
            env=self.environment(FAKE_STARTED=started, **env),
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        deadline = time.monotonic() + 120
        child = ""
        while not child and time.monotonic() < deadline:
            time.sleep(0.05)
            if os.path.exists(started):
                child = fake.read(started)
        self.assertTrue(child, "the child never started")
        if signal_group:
            os.killpg(process.pid, how)  # as a terminal does
        else:
            process.send_signal(how)
        out, error = process.communicate(timeout=60)
        return process.returncode, out, error, int(child)

    def assert_clean(self, outcome):
        code, _, error, child = outcome
        self.assertEqual(code, 130)
        self.assertTrue(error.endswith("learn: interrupted\n"), error)
        self.assertNotIn('File "' + self.root, error)  # no traceback of learn's own
        self.assert_gone(child)

    def assert_gone(self, child):
        with self.assertRaises(ProcessLookupError):
            for _ in range(50):  # it may be about to end
                os.kill(child, 0)
                time.sleep(0.1)

    def test_while_a_chapter_runs(self):
        self.assert_clean(self.interrupt(("run", "01"), {"FAKE_CHAPTER": "sleep"}, signal_group=True))

    def test_while_building(self):
        self.assert_clean(self.interrupt(("run", "01"), {"FAKE_CMAKE": "slow60"}, signal_group=True))

    def test_when_only_learn_is_told(self):
        self.assert_clean(self.interrupt(("run", "01"), {"FAKE_CHAPTER": "sleep"}, signal_group=False))

    def test_what_a_build_started_ends_with_it(self):
        for how in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            with self.subTest(how=how):
                code, _, _, child = self.interrupt(("run", "01"), {"FAKE_CMAKE": "starts-make"}, False, how)
                self.assertEqual(code, 128 + how)
                self.assert_gone(child)
                os.remove(os.path.join(self.home, "started"))

    def test_nohup_is_kept(self):
        done = subprocess.run(
            ["/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "as nohup", *self.command("run", "01")],
            env=self.environment(FAKE_CHAPTER="hang-up"),
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)


class TwoAtATime(fake.Checkout):
    def start(self, *words, **extra):
        process = subprocess.Popen(
            self.command(*words),
            env=self.environment(**extra),
            cwd=self.root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.stderr.close)
        return process

    def test_the_second_waits_for_the_first(self):
        started = os.path.join(self.home, "started")
        self.write("build/results/simulator/02_matrix.json", '{"rows": []}')  # of no newcomer
        first = self.start("run", "01", FAKE_CMAKE="held", FAKE_STARTED=started)
        deadline = time.monotonic() + 120
        while not os.path.exists(started) and time.monotonic() < deadline:
            time.sleep(0.02)
        second = self.start("run", "02")
        self.assertIn(
            f"Waiting for ./learn run 01 (process {first.pid}), which builds chapter 01 for the simulator",
            second.stderr.readline(),
        )
        self.assertIsNone(second.poll())
        self.assertEqual(len(self.calls("--build")), 1)  # the second has not begun to build
        with open(started + ".go", "w"):
            pass
        self.assertEqual((first.wait(timeout=120), second.wait(timeout=120)), (0, 0))
        self.assertEqual(len(self.calls("--build")), 2)
        self.assertNotIn("Waiting", first.stderr.read())

    def test_what_is_up_to_date_does_not_wait(self):
        for chapter in ("01_first_steps", "02_matrix"):
            self.learn("run", chapter[:2], code=0)
        with open(os.path.join(self.root, "build", "simulator", "CMakeCache.txt"), "a") as cache:
            cache.write(f"CMAKE_MAKE_PROGRAM:FILEPATH={self.bin}/ninja\n")
        built = "#!/bin/sh\ncase $* in *-n\\ matrix) echo 'ninja: no work to do.' ;; *) echo '[0/9] g++' ;; esac\n"
        self.tool("ninja", built)
        started = os.path.join(self.home, "started")
        first = self.start("run", "01", FAKE_CMAKE="held", FAKE_STARTED=started)
        deadline = time.monotonic() + 120
        while not os.path.exists(started) and time.monotonic() < deadline:
            time.sleep(0.02)
        calls = len(self.calls("--build"))
        self.assertNotIn("Waiting", self.learn("run", "02", code=0).stderr)
        self.assertIsNone(first.poll())
        self.assertEqual(len(self.calls("--build")), calls)
        second = self.start("run", "01")  # that one ninja would build
        self.assertIn("Waiting for ./learn run 01", second.stderr.readline())
        self.assertIsNone(second.poll())
        self.tool("ninja", built.replace("matrix", "first_steps"))  # and now it has, while the first goes on
        self.assertEqual(second.wait(timeout=120), 0)
        self.assertIsNone(first.poll())
        self.assertEqual(len(self.calls("--build")), calls)
        with open(started + ".go", "w"):
            pass
        self.assertEqual(first.wait(timeout=120), 0)
