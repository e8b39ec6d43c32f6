"""Runs one suite: run.py SUITE, with the Python of the site's environment, which has Sphinx and
Playwright; where there is none, with this one, and the tests that need them are skipped."""

import os
import sys

import sample

PYTHON = sample.site_python() or sys.executable
os.execv(PYTHON, [PYTHON, "-m", "unittest", *sys.argv[1:]])
