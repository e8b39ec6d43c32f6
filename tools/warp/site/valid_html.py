"""What the theme and the extensions write and HTML or ARIA does not allow, put right; and what the head of a page needs.

`page.html` in docs/_templates sends the whole body of a page through the filter `repaired`. A new version of the theme
that writes something else is told by the tests: `tests/site/markup_rules.py` reads every page.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.application import Sphinx

from warp.site.figures import quoted
from warp.site.tree import has_class

# What docs/_static/card.png shows, which is drawn in docs/card.html.
CARD = "Warp by Warp: see why a CUDA kernel is slow. A staircase of kernels that ends above cuBLAS."

BLOCKS = (
    nodes.literal_block,
    nodes.bullet_list,
    nodes.enumerated_list,
    nodes.definition_list,
    nodes.container,
    nodes.table,
    nodes.paragraph,
)


def split_paragraphs(_app: Sphinx, doctree: nodes.document) -> None:
    """Breathe puts listings and lists into paragraphs; HTML ends a paragraph where one begins."""
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if not any(isinstance(child, BLOCKS) for child in paragraph.children):
            continue
        pieces, open_one = [], None
        for child in list(paragraph.children):
            paragraph.remove(child)
            if isinstance(child, BLOCKS):
                pieces.append(child)
                open_one = None
            elif open_one is not None:
                open_one += child
            elif child.astext().strip():
                open_one = nodes.paragraph("", "", child)
                pieces.append(open_one)
        paragraph.replace_self(pieces)


def repaired(body: str) -> str:
    """The body of a page as HTML and ARIA have it."""
    # A switch would need aria-checked, which a checkbox has by itself.
    body = body.replace(' role="switch"', "")
    body = body.replace(' role="heading">', ' role="heading" aria-level="2">')
    # A definition list without a term: the parameters of a signature that takes several lines.
    body = re.sub(r"<dl>\s*((?:<dd>.*?</dd>\s*)+)</dl>", _parameters, body, flags=re.DOTALL)
    # Two landmarks of one kind need names.
    body = body.replace('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Site">')
    body = body.replace('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer')
    # The course's name stands beside both logos.
    body = re.sub(r'alt="(?:Light|Dark) Logo"', 'alt=""', body)
    # A browser breaks a line behind a hyphen, and `--sass` in three; what is longer than a line of a phone may be broken.
    body = re.sub(r'<span class="pre">([^<]{,24}-[^<]{,24})</span>', _unbroken, body)
    # Tables are most of a page's bytes: a cell needs no paragraph, a row no parity, and an alignment one letter.
    body = re.sub(r"(<t[dh]\b[^>]*>)<p>((?:(?!</?p>).)*)</p>(?=</t[dh]>)", r"\1\2", body, flags=re.DOTALL)
    body = re.sub(r'<tr class="row-(?:odd|even)">', "<tr>", body)
    body = re.sub(r'(<t[dh] class="(?:head )?)text-([lr])(?:eft|ight)"', r'\1\2"', body)
    body = re.sub(r'<table class="docutils[^"]*">.*?</table>', _numbers, body, flags=re.DOTALL)
    # A heading cell needs words; Sphinx writes an empty one above a column of symbols.
    return re.sub(r"<th([^>]*)>\s*(?:<p>\s*</p>)?\s*</th>", r"<td\1></td>", body)


def _unbroken(found: re.Match) -> str:
    return f'<span class="pre whole">{found[1]}</span>' if len(found[1]) <= 24 else found[0]


def _numbers(found: re.Match) -> str:
    """A table of numbers: they stand on the right without a word of each cell."""
    table = found[0]
    if table.count('<td class="r">') < 100:
        return table
    return table.replace('<td class="r">', "<td>").replace('class="docutils', 'class="numbers docutils', 1)


def _parameters(found: re.Match) -> str:
    inner = found[1].replace("<dd>", '<span class="parameter">').replace("</dd>", "</span>")
    return f'<span class="parameters">{inner}</span>'


def described(app: Sphinx, pagename: str, _templatename: str, context: dict[str, Any], doctree: nodes.document) -> None:
    """The description of a page, for search engines and previews: its question, else its first paragraph."""
    words = ""
    if doctree is not None:
        paragraphs = [p for p in doctree.findall(nodes.paragraph) if not isinstance(p.parent, nodes.list_item)]
        paragraphs = [p for p in paragraphs if not has_class(p.parent, "facts")]
        asked = [p for p in paragraphs if has_class(p.parent, "question")]
        first = (asked or [p for p in paragraphs if len(p.astext()) > 50] or paragraphs)[:1]
        words = re.sub(r"\s+", " ", first[0].astext()).strip() if first else ""
    title = re.sub(r"<[^>]*>", "", context.get("title") or "") or app.config.project
    if pagename.startswith(("notes/", "more/")):
        words = f"{title}: {words}"  # they begin alike
    if len(words) > 160:
        words = words[: words.rindex(" ", 0, 157)].rstrip(",;:") + " ..."

    address = app.config.html_baseurl.rstrip("/")
    tags = {"og:title": title, "og:type": "website", "og:site_name": app.config.project}
    if words:
        tags |= {"description": words, "og:description": words}
    if address:
        tags |= {"og:url": f"{address}/{pagename}.html", "og:image": f"{address}/_static/card.png"}
        tags |= {"twitter:card": "summary_large_image", "og:image:alt": CARD}
    context["html_baseurl"] = app.config.html_baseurl
    context["site_path"] = urlsplit(address).path + "/"  # of the page for addresses that are wrong
    context["metatags"] = (context.get("metatags") or "") + "".join(
        f'\n    <meta {"property" if name.startswith("og:") else "name"}="{name}" content="{quoted(text)}">'
        for name, text in tags.items()
    )


def add_filter(app: Sphinx) -> None:
    if app.builder.format == "html":
        app.builder.templates.environment.filters["repaired"] = repaired


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """sitemap.xml, where the site knows its address; solutions and notes are found from their chapters."""
    address = app.config.html_baseurl
    if exception or not address or app.builder.format != "html":
        return
    pages = sorted(
        name for name in app.env.all_docs if not name.startswith(("exercises/", "more/", "notes/")) and name != "404"
    )
    lines = [f"  <url><loc>{address.rstrip('/')}/{name}.html</loc></url>" for name in pages]
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    (app.outdir / "sitemap.xml").write_text(text + "\n".join(lines) + "\n</urlset>\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", split_paragraphs, priority=400)
    app.connect("html-page-context", described)
    app.connect("builder-inited", add_filter)
    app.connect("build-finished", write_sitemap)
