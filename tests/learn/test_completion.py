"""Completion: the answers, and both shells asking for them."""

import os
import shutil
import subprocess

import fake


class Candidates(fake.Checkout):
    def complete(self, *words):
        """What could stand where the last word is being typed."""
        index = str(len(words))
        return self.learn("__complete", index, "--", "./learn", *words, cwd=self.home, code=0).stdout.splitlines()

    def test_commands(self):
        self.assertEqual(self.complete("ex"), ["explain"])
        self.assertIn("doctor", self.complete(""))
        self.assertNotIn("__complete", self.complete(""))

    def test_chapters_rungs_and_options(self):
        self.assertEqual(self.complete("run", "01"), ["01", "01_first_steps"])
        self.assertEqual(self.complete("run", "01", "--rung", ""), ["one", "two"])
        self.assertEqual(self.complete("run", "02", "--rung", "t"), ["tiled"])
        self.assertEqual(self.complete("run", "--rung", "n"), ["naive"])
        self.assertEqual(self.complete("run", "--backend", "s"), ["simulator"])
        self.assertEqual(self.complete("run", "--ba"), ["--backend"])
        self.assertNotIn("--fast", self.complete("run", "--fast", "--"))
        self.assertIn("--rung", self.complete("run", "--rung", "one", "--"))
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh"])
        self.assertEqual(self.complete("help", "doc"), ["docs", "doctor"])

    def test_files(self):
        os.makedirs(os.path.join(self.home, "mine"))
        for name in ("one.cu", "two.cu", "two.cpp"):
            with open(os.path.join(self.home, "mine", name), "w"):
                pass
        self.assertEqual(self.complete("explain", "mi"), ["mine/"])
        self.assertEqual(self.complete("explain", "mine/t"), ["mine/two.cu"])
        self.assertIn("mine/two.cpp", self.complete("run", "--json", "mine/"))
        self.assertIn("mine/two.cpp", self.complete("explain", "mine/one.cu", "--html", "mine/"))
        self.assertEqual(self.complete("explain", "mine/one.cu", "--w"), ["--watch"])

    def test_nothing_to_offer(self):
        for words in (("nonsense", ""), ("explain", "01", "--", ""), ("run", "--size", ""), ("doctor", "x")):
            self.assertEqual(self.complete(*words), [], words)

    def test_bad_shell(self):
        self.assertIn("did you mean bash", self.refused("completion", "bsh"))
        self.assertIn("bash or zsh", self.refused("completion"))


class Shells(fake.Checkout):
    def shell(self, program, *arguments):
        path = shutil.which(program)
        if not path:
            self.skipTest(f"no {program} here")
        done = subprocess.run(
            [path, *arguments], env=self.environment(), cwd=self.root, capture_output=True, text=True, timeout=120
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def test_bash(self):
        script = """
            eval "$(./learn completion bash)"
            complete -p ./learn >/dev/null
            COMP_WORDS=(./learn run 01 --rung tw); COMP_CWORD=4
            _warp_by_warp_learn
            printf '%s\\n' "${COMPREPLY[@]}"
        """
        self.assertEqual(self.shell("bash", "--norc", "-c", script), ["two"])

    def test_bash_as_a_person_types(self):
        """An interactive bash, a tab, and what it makes of the line."""
        import pty

        if not shutil.which("bash"):
            self.skipTest("no bash here")
        main, side = pty.openpty()
        process = subprocess.Popen(
            [shutil.which("bash"), "--norc", "--noprofile", "-i"],
            env=self.environment(TERM="dumb", PS1="$ "),
            cwd=self.root,
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
        )
        os.close(side)
        os.write(main, b'eval "$(./learn completion bash)"; echo ready=$?\n')
        seen = self.read_until(main, b"ready=0")
        os.write(main, b"./learn run 02 --rung ti\t#\n")
        seen = self.read_until(main, b"--rung tiled #")
        self.assertIn(b"--rung tiled #", seen)
        os.write(main, b"exit\n")
        process.wait(timeout=60)
        os.close(main)

    def read_until(self, main, wanted):
        import select

        seen = b""
        while wanted not in seen:
            ready, _, _ = select.select([main], [], [], 60)
            self.assertTrue(ready, f"waited for {wanted!r}, saw {seen!r}")
            seen += os.read(main, 65536)
        return seen

    def test_zsh(self):
        script = """
            eval "$(./learn completion zsh)"
            [[ ${_comps[learn]} == _warp_by_warp_learn ]] || exit 1
            compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- "$@" }
            words=(./learn run 01 --rung tw); CURRENT=5
            _warp_by_warp_learn
        """
        self.assertEqual(self.shell("zsh", "-f", "-c", script), ["two"])
