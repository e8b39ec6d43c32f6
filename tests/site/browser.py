"""A browser for those tests that look at pages; where there is none they are skipped."""

import unittest

import sample  # noqa: F401, for tools/ on the path

from warp.base.machine import Machine

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None

CHROMIUM = Machine().chromium()
PATIENCE = 120_000  # ms


def launched(playwright):
    return playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE)


@unittest.skipUnless(CHROMIUM and sync_playwright, "no Chromium or no playwright: ./learn setup --all brings them")
class InABrowser(unittest.TestCase):
    """Has `browser`, one for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        playwright = sync_playwright().start()
        cls.addClassCleanup(playwright.stop)
        cls.browser = launched(playwright)
        cls.addClassCleanup(cls.browser.close)
