"""The tree of Python: which package of tools/warp imports which, and no circle of files."""

import ast
import pathlib
import tempfile
import unittest

import fake

TREE = pathlib.Path(fake.ROOT) / "tools" / "warp"

# A package imports itself and those before it. Not every one needs all that are before it: whoever adds an arrow here
# says why in the commit.
MAY_IMPORT = {
    "base": [],
    "machinecode": ["base"],
    "trace": ["base", "machinecode"],
    "chapter": ["base", "machinecode"],
    "explain": ["base", "machinecode", "trace", "chapter"],
    "exercise": ["base"],
    "record": ["base", "machinecode", "trace", "chapter", "explain", "exercise"],
    "site": ["base", "machinecode", "trace", "chapter", "explain", "exercise"],
    "cli": ["base", "machinecode", "trace", "chapter", "explain", "exercise", "record"],
}


def modules(tree):
    """{module, as warp.base.paths: its file} of all packages."""
    found = {}
    for file in sorted(tree.rglob("*.py")):
        parts = file.relative_to(tree).with_suffix("").parts
        if "templates" not in parts:
            found[".".join(("warp", *parts)).removesuffix(".__init__")] = file
    return found


def imports(tree):
    """(module, module of the tree that it imports), wherever in the file the import stands."""
    known = modules(tree)
    for module, file in known.items():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                inside = [f"{node.module}.{alias.name}" for alias in node.names]
                named = [name if name in known else node.module for name in inside]
            else:
                continue
            for name in named:
                if name.split(".")[0] == "warp":
                    yield module, name


def package(module):
    return module.split(".")[1]


def wrong_arrows(tree):
    """Each import that the tree does not allow, in words."""
    return [
        f"{module} imports {name}: {own} may import {', '.join(MAY_IMPORT[own]) or 'nothing else'}"
        for module, name in imports(tree)
        if module.count(".") > 1  # warp/__main__.py is the start of it all
        for own in [package(module)]
        if package(name) not in (own, *MAY_IMPORT[own])
    ]


def circles(tree):
    """Files that import each other in a circle, each as the way round."""
    graph = {}
    for module, name in imports(tree):
        graph.setdefault(module, []).append(name)
    found, done = [], set()

    def walk(module, way):
        if module in way:
            found.append(" -> ".join([*way[way.index(module) :], module]))
        elif module not in done:
            for name in graph.get(module, []):
                walk(name, [*way, module])
            done.add(module)

    for module in sorted(graph):
        walk(module, [])
    return found


class Tree(unittest.TestCase):
    def test_arrows_go_one_way(self):
        order = list(MAY_IMPORT)
        for own, others in MAY_IMPORT.items():
            for other in others:
                self.assertLess(order.index(other), order.index(own), f"{own} -> {other}")

    def test_packages_import_what_they_may(self):
        self.assertEqual(wrong_arrows(TREE), [])

    def test_every_allowed_arrow_is_used(self):
        used = {own: set() for own in MAY_IMPORT}
        for module, name in imports(TREE):
            if module.count(".") > 1:
                used[package(module)].add(package(name))
        for own, others in MAY_IMPORT.items():
            self.assertEqual(set(others) - used[own], set(), own)

    def test_no_circle(self):
        self.assertEqual(circles(TREE), [])

    def test_nothing_stands_beside_the_packages(self):
        beside = {path.name for path in TREE.iterdir() if not path.name.startswith(("__", "."))}
        self.assertEqual(beside - {"README.md"}, set(MAY_IMPORT))


class WrongTree(unittest.TestCase):
    """The checks see what is wrong."""

    def tree(self, files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in files.items():
            path = pathlib.Path(folder.name) / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return pathlib.Path(folder.name)

    def test_an_arrow_upwards(self):
        tree = self.tree({"base/ui.py": "def say():\n    from warp.explain import report\n", "explain/report.py": ""})
        self.assertEqual(wrong_arrows(tree), ["warp.base.ui imports warp.explain.report: base may import nothing else"])

    def test_a_circle(self):
        tree = self.tree({"base/a.py": "import warp.base.b\n", "base/b.py": "from warp.base import a\n"})
        self.assertEqual(circles(tree), ["warp.base.a -> warp.base.b -> warp.base.a"])
