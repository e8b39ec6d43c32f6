"""The site's script judges a guess as ./learn predict does: both get the guesses of tests/course/guesses.json."""

import html
import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import sample

from browser import CHROMIUM

SCRIPT = sample.ROOT / "docs" / "_static" / "predict.js"
GUESSES = json.loads((sample.ROOT / "tests" / "course" / "guesses.json").read_text(encoding="utf-8"))

# Types each guess into its field, as a reader does, once predict.js has made the fields.
TYPE = """
for (const question of document.querySelectorAll(".prediction")) {
  question.querySelector("input").value = JSON.parse(question.dataset.typed);
  question.querySelector("form").requestSubmit();
}
"""


def asked(name, guess):
    data = {key: guess[key] for key in ("near", "unit", "answer")}
    data.update(choices=[], shown=str(guess["answer"]))
    attributes = {"name": str(name), "prediction": json.dumps(data), "typed": json.dumps(guess["typed"])}
    said = " ".join(f'data-{key}="{html.escape(value)}"' for key, value in attributes.items())
    return f'<div class="prediction" {said}><p>?</p></div>'


@unittest.skipUnless(CHROMIUM, "there is no Chromium: ./learn setup --all brings it")
class Predictions(unittest.TestCase):
    def verdicts(self, script):
        """What the script says of each guess; "" where it says nothing."""
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "page.html")
            questions = "".join(asked(i, guess) for i, guess in enumerate(GUESSES))
            scripts = "".join(f"<script>{text}</script>" for text in (script, TYPE))
            page.write_text(f"<!doctype html><meta charset=utf-8><h1>Guesses</h1>{questions}{scripts}", "utf-8")
            command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
            done = subprocess.run(
                [*command, "--dump-dom", page.as_uri()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120
            )
        words = {"yes": "right", "no": "wrong", "": "no number"}
        outputs = re.findall(r"<output(?: data-near=\"(\w*)\")?>(.*?)</output>", done.stdout.decode("utf-8"))
        return [words[near] if said else "" for near, said in outputs]

    def test_numbers_are_judged_as_the_terminal_judges_them(self):
        found = self.verdicts(SCRIPT.read_text(encoding="utf-8"))
        self.assertEqual(len(found), len(GUESSES))
        for guess, verdict in zip(GUESSES, found):
            with self.subTest(**guess):
                self.assertEqual(verdict, guess["verdict"])
