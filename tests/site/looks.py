"""The real site in a browser: from file://, wide and narrow, light and dark, on paper and by keyboard.

`test_pages.py` runs it with the site that it has built."""

import json
import unittest

import accessibility
import browser
import built

# What every chapter keeps on a screen of 1440 x 900 with its folds shut: screens, the screen where its first picture begins at
# the latest, and the pictures' part of its height in per cent.
MOST_SCREENS, FIRST_PICTURE, LEAST_PICTURES = 15, 2, 12
# Width, height, and whether it is dark.
VIEWS = ((1400, 1000, False), (390, 844, True), (768, 1000, False), (1040, 900, True))


# What a learner types, and where one of the first three hits has to lead.
QUERIES = {
    "how to install": "install.html",
    "without root": "install.html#without-root",
    "Windows": "install.html",
    "macOS": "install.html",
    "Colab": "install.html",
    "how do I start": "install.html",
    "write my own kernel": "install.html",
    "bank conflict": ("chapters/05", "glossary.html#term-bank-conflict"),
    "bank conflcit": ("chapters/05", "glossary.html#term-bank-conflict"),
    "stride of 2 conflict and 3 not": "chapters/05",
    "cost of an access": "access.html",
    "which rung removed which bottleneck": "chapters/02_naive_gemm.html#what-bounds-each-rung",
    "roofline": "glossary.html#term-roofline",
    "register spilling": ("chapters/04", "glossary.html#term-spill"),
    "warp divergence": "chapters/01_thread_indexing.html#divergence",
    "if statement slow": ("glossary.html#term-divergence", "chapters/01_thread_indexing.html#divergence"),
    "coalesced memory access": "glossary.html#term-coalesced",
    "uncoalesced": "glossary.html#term-coalesced",
    "what is a warp": "glossary.html#term-warp",
    "what is a sector": "glossary.html#term-sector",
    "how many threads per block": ("glossary.html#term-occupancy", "chapters/01"),
    "prefix sum": "chapters/08_scan.html",
    "matrix multiplication": "chapters/02_naive_gemm.html",
    "beat cublas": "chapters/12_past_cublas.html",
    "occupancy": "glossary.html#term-occupancy",
    "why is my kernel slow": "profiling.html",
    "illegal memory access": ("simulator.html#what-is-found", "glossary.html#term-guard"),
    "misaligned address": "glossary.html#term-float4",
    "error checking cuda": "chapters/01_thread_indexing.html#errors",
    "compute-sanitizer": "simulator.html#what-is-found",
    "vectorized loads": ("glossary.html#term-float4", "chapters/10_sass_inspection.html#wider-accesses"),
    "unified memory": "chapters/01_thread_indexing.html#managed-memory",
    "pinned memory": "glossary.html#term-pinned-memory",
    "pcie bandwidth": "chapters/19_transfers.html",
    "half precision": ("glossary.html#term-BF16", "chapters/17_tensor_cores.html"),
    "wgmma": ("glossary.html#term-tensor-core", "chapters/17_tensor_cores.html"),
    "double buffering": ("chapters/11", "glossary.html#term-double-buffering"),
    "cp.async": "chapters/11_pipelines.html#copies-that-bypass-the-registers",
    "race condition shared memory": ("chapters/03", "glossary.html#term-race"),
    "deadlock": ("chapters/03", "exercises/03_shared_tiling/barrier_in_branch.html"),
    "use a profiler": "profiling.html",
    "gdb breakpoint": "debugging.html",
    "is the simulator correct": "agreement.html",
    "stencil halo": ("chapters/15", "glossary.html#term-halo"),
    "image convolution": "chapters/16_convolution.html",
    "radix sort": ("glossary.html#term-radix-sort", "chapters/14"),
    "spmv": "chapters/14_segments_and_sorts.html#a-sparse-matrix-times-a-vector",
    "struct of arrays": "chapters/06_transpose.html#structs",
    "histogram": "chapters/07_reductions.html#many-results-the-histogram",
    "sum of an array": "chapters/07_reductions.html",
    "copy_y_fastest": "chapters/01_thread_indexing.html#copy_y_fastest",
    "__shfl_xor_sync": "chapters/07_reductions.html#registers-instead-of-shared-memory",
    "__syncthreads": ("glossary.html#term-barrier", "chapters/03_shared_tiling.html"),
    "__launch_bounds__": "chapters/04_register_tiling.html#launch_bounds",
    "cudaMemcpyAsync": "glossary.html#term-stream",
    "atomicAdd slow": (
        "simulator.html#atomic-operations",
        "chapters/07",
        "chapters/14_segments_and_sorts.html#without-atomics",
    ),
    "teach a class": "class.html",
}


class Looks(browser.InABrowser):
    """Every page from file://, wide and narrow, light and dark."""

    def page(self, width: int, height: int = 1000, dark: bool = False):
        """An empty page; `errors` and `requests` gather what the pages opened in it throw and ask for."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        self.addCleanup(context.close)
        context.set_default_timeout(browser.PATIENCE)
        page = context.new_page()
        self.errors, self.requests = [], []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        return page

    def test_pages(self):
        """A page is loaded once, in each view for a fourth of the pages, and brought into the other views as it stands."""
        page = self.page(*VIEWS[0])
        for number, path in enumerate(sorted(built.SITE.rglob("*.html"))):
            self.errors.clear()
            self.requests.clear()
            for step in range(len(VIEWS)):
                width, height, dark = VIEWS[(number + step) % len(VIEWS)]
                with self.subTest(page=path.name, width=width, dark=dark):
                    page.set_viewport_size({"width": width, "height": height})
                    page.emulate_media(color_scheme="dark" if dark else "light")
                    if step == 0:
                        page.goto(path.as_uri())
                    wide, contrast, code, shade = page.evaluate(
                        f"[document.documentElement.scrollWidth, {CONTRAST}, {CODE_CONTRAST}, {SHADE}]"
                    )
                    self.assertLessEqual(wide, width, "the page is wider than the screen")
                    self.assertGreater(contrast, 7, "text on its background")
                    self.assertGreater(code, 7, "code on its background")
                    self.assertEqual(shade < 0.5, dark, "the theme is the one that was asked for")
                    self.assertEqual(self.errors, [])
            with self.subTest(page=path.name):
                self.assertIn(path.as_uri(), self.requests)
                self.assertEqual([u for u in self.requests if not u.startswith(("file:", "data:"))], [])

    def test_a_narrow_screen_gets_the_narrow_drawing(self):
        drawn = next(path for path in sorted(built.SITE.glob("chapters/*.html")) if "only-narrow" in path.read_text())
        for width, shown, hidden in ((1400, "only-wide", "only-narrow"), (390, "only-narrow", "only-wide")):
            page = self.page(width)
            page.goto(drawn.as_uri())
            page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
            self.assertTrue(page.locator(f".{shown}").first.is_visible())
            self.assertFalse(page.locator(f".{hidden}").first.is_visible())

    def test_search_lands_on_sections(self):
        page = self.page(1400)
        page.goto((built.SITE / "search.html").as_uri() + "?q=roots")
        self.assertIn("root", page.locator("#search-results li p mark").first.inner_text().lower())
        missed = {}
        for query, wanted in QUERIES.items():
            links = page.evaluate(FIRST_HITS, query)
            if not any(link.startswith(wanted) for link in links):
                missed[query] = links
        self.assertEqual(missed, {})
        solved = page.evaluate("async () => (await search('swizzle the tile')).map((one) => one.heading)")
        self.assertFalse(any(heading.startswith("Solution") for heading in solved[:3]), solved[:3])
        page.goto((built.SITE / "search.html").as_uri() + "?q=qqzzx")
        self.assertIn("No section", page.locator("#search-summary").inner_text())
        page.goto((built.SITE / "search.html").as_uri() + "?q=setmaxnreg%20register")
        said = page.locator("#search-summary", has_text="part of it")
        self.assertRegex(
            said.inner_text(), "^[0-9]+ sections? for “setmaxnreg register”, then those with a part of it$"
        )

    def test_names_in_a_table_are_words_on_a_phone(self):
        page = self.page(390)
        narrow = """() => {
          for (const fold of document.querySelectorAll("details")) fold.open = true;
          const first = [...document.querySelectorAll(".table-wrapper table.docutils tr > :first-child")];
          return first.filter((cell) => cell.offsetWidth > 0 && cell.offsetWidth < 60).map((cell) => cell.innerText);
        }"""
        for chapter in ("05_bank_conflicts", "18_attention"):
            page.goto((built.SITE / "chapters" / f"{chapter}.html").as_uri())
            self.assertEqual(page.evaluate(narrow), [])

    def test_the_live_figure_counts_what_the_traces_say(self):
        page = self.page(1440)
        page.goto((built.SITE / "access.html").as_uri())
        accesses = []
        for folder in built.REPORTS:
            trace = json.loads((built.run_of(folder) / "trace.json").read_text())
            accesses += [
                [example["addresses"], example["size"], example["access"] == "store", example["wavefronts"]]
                for launch in trace["launches"]
                for line in launch["lines"]
                for example in line["examples"]
                if example["space"] == "shared" and example["access"] != "atomic"
            ]
        self.assertGreater(len(accesses), 1000)
        differing = """(accesses) => accesses.filter(([addresses, size, store, wavefronts]) =>
          warpRules.shared(addresses, size, store).wavefronts !== wavefronts)"""
        self.assertEqual(page.evaluate(differing, accesses), [])
        accesses[0][3] += 1
        self.assertEqual(len(page.evaluate(differing, accesses)), 1)

    def test_the_live_figure_counts_the_sectors_of_the_traces(self):
        """Where the trace has each request of a line, they make up the sectors that the simulator counted of it."""
        page = self.page(1440)
        page.goto((built.SITE / "access.html").as_uri())
        lines = []
        for folder in built.REPORTS:
            trace = json.loads((built.run_of(folder) / "trace.json").read_text())
            for line in (line for launch in trace["launches"] for line in launch["lines"]):
                for access in ("load", "store"):
                    shown = [
                        [example["addresses"], example["size"]]
                        for example in line["examples"]
                        if (example["space"], example["access"]) == ("global", access)
                    ]
                    if shown and len(shown) == line["counts"][f"global_{access}_requests"]:
                        lines.append([shown, line["counts"][f"global_{access}_sectors"]])
        self.assertGreater(len(lines), 300)
        differing = """(lines) => lines.filter(([shown, sectors]) =>
          shown.reduce((sum, [addresses, size]) => sum + warpRules.sectors(addresses, size), 0) !== sectors)"""
        self.assertEqual(page.evaluate(differing, lines), [])
        lines[0][1] += 1
        self.assertEqual(len(page.evaluate(differing, lines)), 1)

    def test_the_live_figure(self):
        """Both of its sides are on a wide screen side by side and on a phone one below the other; without JavaScript it is
        a drawing."""
        for name, live in (("access", 1), ("chapters/05_bank_conflicts", 1), ("chapters/06_transpose", 2)):
            path = built.SITE / f"{name}.html"
            for width in (1440, 390):
                page = self.page(width, dark=width == 390)
                page.goto(path.as_uri())
                self.assertEqual(page.locator(".live .verdict").count(), live)
                a, b = (page.locator(".live").first.locator(".side").nth(i).bounding_box() for i in (0, 1))
                self.assertEqual(a["y"] == b["y"], width == 1440, (a, b))
                self.assertLessEqual(max(side["x"] + side["width"] for side in (a, b)), width)
                self.assertEqual((self.errors, page.locator("details .live").count()), ([], 0))
            without = self.browser.new_context(java_script_enabled=False)
            self.addCleanup(without.close)
            still = without.new_page()
            still.goto(path.as_uri())
            self.assertEqual(still.locator(".live .drawing >> visible=true").count(), live)
        page = self.page(1440, 900)
        page.goto((built.SITE / "access.html").as_uri() + "#access=shared:float*32:float*32+1")
        self.assertEqual(page.locator(".big b").all_inner_texts(), ["32", "1"])
        self.assertLess(page.locator(".live").bounding_box()["y"], 100)

    def test_a_number_beside_a_line_opens_its_picture(self):
        page = self.page(390, 844, dark=True)
        page.goto((built.SITE / "chapters" / "06_transpose.html").as_uri())
        listing = page.locator(".counted-listing:has-text('void copy_strided')").first
        button = listing.locator("button.cost").first
        self.assertFalse(button.is_visible(), "a prediction asks for it")
        listing.locator(".counts-switch input").check()
        button.click()
        words = listing.locator(".cost-detail").inner_text()
        self.assertRegex(words, r"Line \d+: global loads of copy_strided, 3 launches: [\d.]+ to 32 sectors a request\.")
        self.assertIn("\n8 sectors: 4 bytes a lane", words)
        self.assertEqual(listing.locator(".cost-detail svg").count(), 3)  # strides of 8 and 32 look the same
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 390)
        button.click()
        self.assertEqual(listing.locator(".cost-detail").inner_text(), "")
        self.assertEqual(self.errors, [])

    def test_a_chapter_shows_its_ladder_first(self):
        page = self.page(1440, 900)
        for folder in built.REPORTS:
            page.goto((built.SITE / "chapters" / f"{folder}.html").as_uri())
            box = page.locator("article figure.drawn >> visible=true").first.bounding_box()
            self.assertLess(box["y"] + min(box["height"], 300), 900, folder)
            self.assertIn("The ladder of chapter", page.locator("figure.drawn figcaption").first.inner_text())

    @unittest.skipUnless(accessibility.axe(), "axe is not installed: ./learn setup --all brings it")
    def test_axe_finds_nothing(self):
        """A page of each kind in two views; `accessibility.py` has all pages in all views, which takes many minutes."""
        views = [self.page(width, 900, theme == "dark") for width, theme in accessibility.VIEWS]
        names = ("index", "search", "access", "glossary", "chapters/index", "exercises/02_naive_gemm/count_the_reads")
        for number, name in enumerate(names):
            for view in (number % 4, 3 - number % 4):
                with self.subTest(page=name, view=accessibility.VIEWS[view]):
                    self.assertEqual(accessibility.violations(views[view], built.SITE / f"{name}.html"), [])
        broken = built.SITE / "broken.html"
        self.addCleanup(broken.unlink, missing_ok=True)
        licence = (built.SITE / "licence.html").read_text()
        broken.write_text(licence.replace("<p>", '<p><img src="_static/warp.svg">', 1))
        self.assertIn("image-alt", " ".join(accessibility.violations(views[0], broken)))

    def test_a_chapter_shows_more_than_it_tells(self):
        page = self.page(1440, 900)
        for folder in built.REPORTS:
            page.goto((built.SITE / "chapters" / f"{folder}.html").as_uri())
            screens, first, pictures, folded = page.evaluate(ROAD)
            with self.subTest(chapter=folder):
                self.assertEqual(folded, [], "figures within a fold")
                self.assertLess(first, FIRST_PICTURE, "the screen of the first picture")
                self.assertGreaterEqual(pictures, LEAST_PICTURES, "pictures, % of the height")
                self.assertLessEqual(screens, MOST_SCREENS, "screens")

    def test_a_line_of_prose_has_66_to_75_letters(self):
        page = self.page(1440, 900)
        for name in ("simulator", "chapters/02_naive_gemm"):
            page.goto((built.SITE / f"{name}.html").as_uri())
            lines = sorted(page.evaluate(LETTERS))
            self.assertTrue(66 <= lines[len(lines) // 2] <= 75, lines[len(lines) // 2])

    def test_the_landing_page_shows_what_it_is_about_at_once(self):
        page = self.page(1440, 900)
        page.goto((built.SITE / "index.html").as_uri())
        for selector in (".start a.button", ".live .picture svg >> visible=true", ".live .verdict"):
            box = page.locator(selector).first.bounding_box()
            self.assertLess(box["y"] + box["height"], 900, selector)

    def test_what_cannot_be_seen_is_not_reached_with_the_keyboard(self):
        page = self.page(390, 844)
        page.goto((built.SITE / "chapters" / "02_naive_gemm.html").as_uri())
        reached = []
        for _ in range(12):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.ariaLabel || document.activeElement.className"))
            self.assertFalse(page.evaluate("!!document.activeElement.closest('.sidebar-drawer, .toc-drawer')"), reached)
        self.assertIn("Site navigation", reached)
        page.locator(".nav-overlay-icon .icon").focus()
        page.keyboard.press("Enter")
        page.wait_for_function("getComputedStyle(document.querySelector('.sidebar-drawer')).visibility === 'visible'")
        page.keyboard.press("Escape")
        self.assertFalse(page.locator("#__navigation").is_checked())
        page.locator("button.copybtn").first.focus()
        page.wait_for_function("getComputedStyle(document.activeElement).opacity === '1'")

    def test_a_wide_table_can_be_scrolled_with_the_keyboard(self):
        page = self.page(390, 844)
        page.goto((built.SITE / "agreement.html").as_uri())
        page.wait_for_selector(".agreement .table-wrapper[tabindex='0'][aria-label]")

    def test_the_page_of_agreement_shows_differences_only(self):
        page = self.page(1440, 900)
        page.goto((built.SITE / "more" / "06_transpose" / "measurements.html").as_uri())
        self.assertEqual(page.locator("details.agreement").count(), 1)
        self.assertEqual(page.locator(".filter").count(), 0, "it is for that page, not for a chapter's table")
        page.goto((built.SITE / "agreement.html").as_uri())
        rows = page.locator(".agreement tbody tr >> visible=true")
        every = rows.count()
        page.locator(".filter input").check()
        self.assertTrue(0 < rows.count() < every / 4)
        self.assertEqual(rows.count(), page.locator(".agreement tbody tr:has(td strong)").count())
        page.locator(".filter input").uncheck()
        self.assertEqual(rows.count(), every)

    def test_paper_has_the_folds_open_and_no_link_to_skip_to(self):
        page = self.page(800, 1000)
        page.goto((built.SITE / "chapters" / "02_naive_gemm.html").as_uri())
        page.emulate_media(media="print")
        self.assertFalse(page.locator(".skip-to-content").is_visible())
        shut = "document.querySelectorAll('details:not([open])').length"
        before = page.evaluate(shut)
        self.assertGreater(before, 3)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(page.evaluate(shut), 0)
        clipped = "[...document.querySelectorAll('pre')].filter((pre) => pre.scrollWidth > pre.clientWidth + 1).length"
        self.assertEqual(page.evaluate(clipped), 0)
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(page.evaluate(shut), before)


# The addresses of the first three hits.
FIRST_HITS = """async (query) => (await search(query)).slice(0, 3)
  .map(({ page, anchor }) => page + (anchor ? `#${anchor}` : ""))"""

# How many screens a page is long, where its first picture begins, how much of its height are pictures, and those in a fold.
ROAD = """(() => {
  const height = document.documentElement.scrollHeight;
  const pictures = [...document.querySelectorAll("article figure.drawn, article .live-place")].map((one) => [one, one.getBoundingClientRect()]);
  const seen = pictures.filter(([one, box]) => box.height && !one.closest("details:not([open])"));
  return [height / innerHeight, Math.min(...seen.map(([, box]) => box.top + scrollY)) / innerHeight,
    100 * seen.reduce((sum, [, box]) => sum + box.height, 0) / height,
    pictures.filter(([one]) => one.closest("details")).map(([one]) => one.textContent.slice(0, 60))];
})()"""

# The letters of each line of prose that another one follows.
LETTERS = """(() => {
  const lines = [], range = document.createRange();
  for (const paragraph of document.querySelectorAll("article > section > p, article > section > section > p")) {
    const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
    let last = null, letters = 0;
    while (walker.nextNode()) {
      for (let i = 0; i < walker.currentNode.length; i++) {
        range.setStart(walker.currentNode, i);
        range.setEnd(walker.currentNode, i + 1);
        const box = range.getClientRects()[0];
        if (!box) continue;
        if (last !== null && Math.abs(box.bottom - last) > 12) { lines.push(letters); letters = 0; last = box.bottom; }
        last ??= box.bottom;
        letters++;
      }
    }
  }
  return lines;
})()"""

# How light a colour is, from 0 to 1.
LIGHT = """(c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => { x /= 255;
  return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return 0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2]; })"""

SHADE = f"{LIGHT}(getComputedStyle(document.body).backgroundColor)"

CONTRAST = f"""(() => {{
  const text = document.querySelector('article p') || document.body;
  const a = {LIGHT}(getComputedStyle(text).color), b = {SHADE};
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}})()"""

# Of a listing's letters without a colour of their own; pages without one pass.
CODE_CONTRAST = f"""(() => {{
  const code = document.querySelector('article .highlight pre');
  if (!code) return 21;
  const a = {LIGHT}(getComputedStyle(code).color), b = {LIGHT}(getComputedStyle(code).backgroundColor);
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}})()"""
