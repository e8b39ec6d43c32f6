"""What the pages do for who reads on: terms at a touch, ticks, where to go on, a wrong address, letters and targets of a phone.

`test_pages.py` runs it in the browser that `looks.py` uses."""

import http.server
import threading

import sample  # noqa: F401, for tools/ on the path

import browser
import built

from warp.cli.commands import docs


class Reader:
    def phone(self, **settings):
        """An empty page of a phone that is touched; its storage is that of `self.context`."""
        self.context = self.browser.new_context(
            viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, **settings
        )
        self.addCleanup(self.context.close)
        self.context.set_default_timeout(browser.PATIENCE)
        return self.context.new_page()

    def test_a_term_explains_itself_to_pointer_keyboard_and_touch(self):
        address = (built.SITE / "chapters" / "01_thread_indexing.html").as_uri()
        page = self.page(1440, 900)
        page.goto(address)
        note, term = page.locator(".term-note"), page.locator("article a.term").first
        self.assertFalse(note.is_visible())
        term.hover()
        note.wait_for(state="visible")
        self.assertGreater(len(note.inner_text()), 20)
        self.assertEqual(term.get_attribute("aria-describedby"), "term-note")
        page.keyboard.press("Escape")
        self.assertFalse(note.is_visible())
        page.mouse.move(0, 0)
        term.focus()
        self.assertTrue(note.is_visible())
        page.keyboard.press("Escape")
        self.assertEqual(page.locator("a.term[title]").count(), 0)  # no second one by the browser
        page = self.phone()
        page.goto(address)
        term, note = page.locator("article a.term").nth(3), page.locator(".term-note")
        term.tap()
        note.wait_for(state="visible")
        self.assertEqual(page.url, address)
        box = note.bounding_box()
        self.assertTrue(box["x"] >= 0 and box["x"] + box["width"] <= 390, box)
        note.locator("a").tap()
        page.wait_for_url("**/glossary.html#term-*")
        page.go_back()
        page.locator("article a.term").nth(3).tap()
        page.locator("article h1").tap()
        self.assertFalse(page.locator(".term-note").is_visible())

    def test_a_chapter_that_was_read_is_ticked_and_the_start_page_goes_on(self):
        page = self.page(1440, 900)
        page.goto((built.SITE / "index.html").as_uri())
        self.assertEqual((page.locator(".go-on").count(), page.locator(".chapter-card .done").count()), (0, 0))
        page.goto((built.SITE / "chapters" / "02_naive_gemm.html").as_uri())
        page.locator("#what-next").scroll_into_view_if_needed()
        page.wait_for_function("JSON.parse(localStorage.getItem('warp:progress')).read['chapters/02_naive_gemm.html']")
        page.goto((built.SITE / "chapters" / "03_shared_tiling.html").as_uri())
        heading = page.locator("article > section > section[id]").nth(1)  # higher than a third of the window
        section = heading.get_attribute("id")
        page.evaluate("(id) => document.getElementById(id).scrollIntoView()", section)
        page.wait_for_function(
            "(id) => JSON.parse(localStorage.getItem('warp:progress')).last.anchor === id", arg=section
        )
        page.goto((built.SITE / "index.html").as_uri())
        self.assertEqual(page.locator(".chapter-card:has(.done) a").all_inner_texts(), ["02 Naive GEMM ✓"])
        link = page.locator(".go-on a")
        self.assertIn("Chapter 03: Shared tiling, ", link.inner_text())
        link.click()
        page.wait_for_url(f"**/chapters/03_shared_tiling.html#{section}")

    def test_a_wrong_address_in_a_folder_gets_the_page_with_its_style(self):
        served = []
        handler = docs.handler_of(str(built.SITE))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = self.page(1440, 900)
        page.on("response", lambda response: served.append((response.status, response.url)))
        root = f"http://127.0.0.1:{server.server_port}"
        page.goto(f"{root}/chapters/deep/wrong.html")
        self.assertEqual([url for status, url in served if status == 404], [f"{root}/chapters/deep/wrong.html"])
        self.assertIn("This page is not here", page.locator("h1").inner_text())
        page.locator("article a", has_text="The chapters").click()
        page.wait_for_url(f"{root}/chapters/index.html")

    def test_the_recording_plays_or_shows_all(self):
        for motion, shown in (("no-preference", 1), ("reduce", 3)):
            page = self.page(1440, 900)
            page.emulate_media(reduced_motion=motion)
            page.goto((built.SITE / "index.html").as_uri())
            frames = page.locator(".recording li >> visible=true")
            self.assertEqual(frames.count(), shown, motion)
            page.locator(".recording input").check()
            self.assertEqual(frames.count(), 3)

    def test_letters_and_targets_are_large_enough_for_a_phone(self):
        page = self.phone()
        for name in PHONE_PAGES:
            page.goto((built.SITE / f"{name}.html").as_uri())
            page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
            with self.subTest(page=name):
                self.assertEqual(page.evaluate(SMALL_LETTERS, 11), [])
                self.assertEqual(page.evaluate(SMALL_TARGETS, 24), [])
        page.set_content(
            '<article><p style="font-size: 9px">small</p><button style="height: 10px">b</button></article>'
        )
        self.assertEqual(page.evaluate(SMALL_LETTERS, 11), ["9 px: small"])
        self.assertEqual(len(page.evaluate(SMALL_TARGETS, 24)), 1)

    def test_what_is_wider_than_a_phone_says_that_it_scrolls(self):
        page = self.phone()
        page.goto((built.SITE / "chapters" / "01_thread_indexing.html").as_uri())
        plain = page.evaluate(
            """[...document.querySelectorAll(".highlight pre, .table-wrapper")]
               .filter((box) => box.scrollWidth > box.clientWidth && !getComputedStyle(box).backgroundImage.includes("gradient"))
               .length"""
        )
        self.assertEqual(plain, 0)
        moved = page.evaluate(
            """(() => { const box = [...document.querySelectorAll(".table-wrapper")].find((one) => one.scrollWidth > one.clientWidth + 40);
               const cell = box.querySelector("td"), left = cell.getBoundingClientRect().left;
               box.scrollLeft = 40; return [box.scrollLeft, Math.abs(cell.getBoundingClientRect().left - left)]; })()"""
        )
        self.assertEqual(moved[0], 40)
        self.assertLess(moved[1], 1.5, "the first column stays")


PHONE_PAGES = (
    "index",
    "search",
    "access",
    "glossary",
    "install",
    "chapters/index",
    "chapters/01_thread_indexing",
    "chapters/05_bank_conflicts",
    "chapters/08_scan",
    "agreement",
)

# Text smaller than so many pixels, as it is shown: a drawing may be scaled.
SMALL_LETTERS = """(least) => {
  const found = new Map();
  for (const node of document.querySelectorAll("article *")) {
    const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.textContent.trim());
    if (!own || !node.getClientRects().length || node.closest("[hidden], .headerlink, sup, sub")) continue;
    const matrix = node instanceof SVGElement && node.getScreenCTM?.();
    const size = parseFloat(getComputedStyle(node).fontSize) * (matrix ? Math.hypot(matrix.a, matrix.b) : 1);
    if (size < least - 0.05) found.set(`${+size.toFixed(1)} px: ${node.textContent.trim().slice(0, 30)}`);
  }
  return [...found.keys()].slice(0, 12);
}"""

# Buttons, fields, folds and links that stand alone, smaller than so many pixels. A link in a line of text is as high as that, and a
# number beside a line of code, too.
SMALL_TARGETS = """(least) => {
  const found = new Map();
  for (const one of document.querySelectorAll("article :is(button, input, select, summary, a.button), .letters a, .mobile-header :is(label, a, button)")) {
    const box = (one.closest("label") ?? one).getBoundingClientRect();
    if (!box.width || one.matches(".cost, .copybtn, [type=hidden]") || getComputedStyle(one).visibility === "hidden") continue;
    if (box.height < least - 0.5 || box.width < least - 0.5)
      found.set(`${Math.round(box.width)} x ${Math.round(box.height)}: ${one.outerHTML.slice(0, 90)}`);
  }
  return [...found.keys()].slice(0, 12);
}"""
