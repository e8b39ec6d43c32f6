"""The rules of markup see what is wrong, and only that."""

import unittest

from markup_rules import faults

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>A page</title></head>
<body>
<aside aria-label="Site"></aside>
<aside aria-label="On this page"></aside>
<main>
<h1>A page</h1>
<h2 id="a">A</h2>
<p>Words with <a href="#a">a link</a>.</p>
<dl><dt>term</dt><dd>meaning</dd></dl>
<table><thead><tr><th>head</th></tr></thead><tbody><tr><td></td></tr></tbody></table>
<label>name <input type="text"></label><input type="checkbox" id="box"><label for="box">box</label>
<button title="what it does"></button>
<details><summary>more</summary><p>less</p></details>
<div role="img" aria-label="a drawing"><svg viewBox="0 0 1 1"><path id="p1" d="M0 0"/></svg></div>
</main>
</body>
</html>
"""


class Rules(unittest.TestCase):
    def test_a_page_that_is_right(self):
        self.assertEqual(faults(PAGE), [])

    def test_each_rule_can_fail(self):
        for right, wrong, words in (
            ('id="box"', 'id="a"', "the id a stands twice"),
            ('id="p1"', 'id="1p"', "the id 1p in an SVG is no name in XML"),
            ('id="a"', 'id="a b"', "is no id"),
            ("<th>head</th>", "<th></th>", "a heading cell without words"),
            ('for="box"', 'for="bix"', "for names bix, which is not there"),
            ('for="box"', 'class="x"', "<input> without a label"),
            ("<label>name <input", "<label>name </label><input", "<input> without a label"),
            (">a link<", "><", "<a> without words"),
            (' title="what it does"', "", "<button> without words"),
            ('aria-label="a drawing"', "", "role img without words"),
            ("<p>less</p>", '<p><img src="a.svg"></p>', "<img> without words"),
            ("<p>less</p>", '<p><img src="a.svg" alt=""></p>', "<img> without words"),
            ("<dt>term</dt>", "", "<dl> without a term"),
            ("<dt>term</dt>", "<p>term</p>", "<dl> holds something else"),
            ("<summary>more</summary>", '<summary><a href="#a">more</a></summary>', "<a> inside <summary>"),
            ("<p>less</p>", "<p>less <div></div></p>", "<div> inside a <p>"),
            ("<p>less</p>", "<p>less", "closes <p>"),
            ('type="checkbox"', 'type="checkbox" role="switch"', "role switch without aria-checked"),
            ('<aside aria-label="Site">', "<aside>", "several landmarks"),
            ("<p>less", '<p role="heading">less', "role heading without aria-level"),
            (' lang="en"', "", "<html> without lang"),
            ("<title>A page</title>", "", "no <title>"),
            ("<h1>A page</h1>", "", "not exactly one <h1>"),
            ('<h2 id="a">A</h2>', '<h3 id="a">A</h3>', "a level is left out"),
            ('href="#a"', 'href="#a" href="#b"', "has href twice"),
        ):
            self.assertIn(right, PAGE)
            found = faults(PAGE.replace(right, wrong, 1))
            self.assertTrue(any(words in fault for fault in found), (wrong, found))
