"""The simulator's house: which folder of common/simt includes which, and where the environment is read."""

import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from warp.site import simulator_settings  # noqa: E402

HOUSE = ROOT / "common" / "simt"
COMPILER = HOUSE / "compiler"
LIBRARIES = ROOT / "common" / "libraries"

# A folder includes itself and those that stand here, all of them before it: a request travels from the last to the first.
# Whoever adds an arrow says why in the commit.
MAY_INCLUDE = {
    "program": [],
    "base": ["program"],
    "memory": ["program", "base"],
    "count": ["program", "base"],
    "compiled": ["program", "base", "count"],
    "fibers": ["base"],
    "races": ["base", "memory"],
    "check": ["program", "base", "memory", "races"],
    "monitor": ["program", "base", "memory", "count", "races", "check"],
    "report": ["program", "base", "memory", "count"],
    "ending": ["program", "base", "memory", "report"],
    "streams": ["program", "base", "memory", "races", "report"],
    "watch": ["program", "base", "memory", "report", "ending", "streams"],
    "exec": ["program", "base", "memory", "count", "fibers", "races", "check", "monitor", "streams"],
    "hooks": ["program", "base", "memory", "check", "report", "ending", "streams", "watch", "exec"],
    "launch": ["program", "base", "memory", "compiled", "races", "report", "ending", "streams", "watch", "exec"],
    "runtime": ["program", "base", "memory", "report", "ending", "streams", "watch", "hooks", "launch"],
}
FOLDERS = list(MAY_INCLUDE)
# simtcc, whose rooms know nothing of the simulator's but the settings and zones.
COMPILER_MAY_INCLUDE = {
    "text": [],
    "ptx": [],
    "rewrite": ["text", "ptx", "base"],
    "trees": ["text"],
    "assembly": ["trees"],
    "words": ["text"],
}
MOST_FILES = 25
MOST_LINES = 500
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def includes(house, folders=FOLDERS):
    """(file, what it includes) for all of the house."""
    for folder in folders:
        for file in sorted((house / folder).glob("*")):
            for name in INCLUDE.findall(file.read_text()):
                yield file.relative_to(house), name


def wrong_arrows(house, may_include=MAY_INCLUDE):
    """Each include that the house does not allow, in words."""
    wrong = []
    for file, name in includes(house, may_include):
        own, other = file.parts[0], name.split("/")[0]
        if other not in (own, *may_include[own]):
            wrong.append(f"{file} includes {name}: {own} may include {', '.join(may_include[own]) or 'nothing else'}")
    return wrong


def full_folders(house):
    """Each folder of it that has more files than one can take in, in words."""
    folders = [house, *(path for path in house.rglob("*") if path.is_dir())]
    counts = {folder: sum(path.is_file() for path in folder.iterdir()) for folder in folders}
    return [f"{folder.relative_to(house)}: {count} files" for folder, count in counts.items() if count > MOST_FILES]


def circles(house, folders=FOLDERS):
    """Headers that include each other in a circle, each as the way round."""
    graph = {}
    for file, name in includes(house, folders):
        graph.setdefault(str(file), []).append(name)
    found, done = [], set()

    def walk(file, way):
        if file in way:
            found.append(" -> ".join([*way[way.index(file) :], file]))
        elif file not in done:
            for name in graph.get(file, []):
                walk(name, [*way, file])
            done.add(file)

    for file in graph:
        walk(file, [])
    return found


class House(unittest.TestCase):
    def test_arrows_go_one_way(self):
        for may_include in (MAY_INCLUDE, {"base": [], **COMPILER_MAY_INCLUDE}):
            order = list(may_include)
            for number, folder in enumerate(order):
                for other in may_include[folder]:
                    self.assertLess(order.index(other), number, f"{folder} -> {other}")

    def test_folders_include_what_they_may(self):
        self.assertEqual(wrong_arrows(HOUSE), [])
        self.assertEqual(wrong_arrows(COMPILER, COMPILER_MAY_INCLUDE), [])

    def test_folders_can_be_taken_in(self):
        self.assertEqual(full_folders(HOUSE) + full_folders(LIBRARIES), [])
        with tempfile.TemporaryDirectory() as folder:
            for number in range(MOST_FILES + 1):
                (pathlib.Path(folder) / f"{number}.h").touch()
            self.assertEqual(full_folders(pathlib.Path(folder)), [f".: {MOST_FILES + 1} files"])

    def test_the_engine_knows_no_library(self):
        for file, name in includes(HOUSE):
            self.assertNotEqual(name.split("/")[0], "libraries", file)

    def test_no_circle(self):
        self.assertEqual(circles(HOUSE) + circles(COMPILER, COMPILER_MAY_INCLUDE), [])

    def test_nothing_stands_beside_the_folders(self):
        beside = {path.name for path in HOUSE.iterdir() if not path.name.startswith(".")}
        self.assertEqual(beside - set(FOLDERS), {"CMakeLists.txt", "include", "compiler"})

    def test_every_allowed_arrow_is_used(self):
        used = {folder: set() for folder in FOLDERS}
        for file, name in includes(HOUSE):
            used[file.parts[0]].add(name.split("/")[0])
        for folder, others in MAY_INCLUDE.items():
            self.assertEqual(set(others) - used[folder], set(), folder)

    def test_files_are_short(self):
        long = {
            f"{file.relative_to(HOUSE)}: {lines} lines"
            for folder in FOLDERS
            for file in (HOUSE / folder).glob("*")
            if (lines := file.read_text().count("\n")) > MOST_LINES
        }
        self.assertEqual(long, set())

    def test_no_declaration_of_what_another_file_defines(self):
        """An `extern` in a .cpp is a back door, but for the linker's own names: what others may use stands in a header."""
        for folder in FOLDERS:
            for file in (HOUSE / folder).glob("*.cpp"):
                for line in file.read_text().split("\n"):
                    self.assertNotRegex(line, r"^extern (?!\"C\"|const char _)", f"{file.name}: {line}")

    def test_the_environment_is_read_in_one_place(self):
        readers = {
            str(file.relative_to(HOUSE))
            for folder in FOLDERS
            for file in (HOUSE / folder).glob("*")
            if "getenv" in file.read_text()
        }
        self.assertEqual(readers, {"base/settings.cpp"})

    def test_one_table_lists_every_setting(self):
        """simtcc --help prints it, and the page of the simulator has it."""
        read = set(re.findall(r'"(SIMT_\w+)"', (HOUSE / "base" / "settings.cpp").read_text()))
        header = set(re.findall(r"SIMT_\w+", (HOUSE / "base" / "settings.h").read_text()))
        entries = simulator_settings.read(simulator_settings.HEADER.read_text())
        self.assertEqual({variable for variable, _, _ in entries}, read)
        self.assertEqual(header, read)
        (table,) = simulator_settings.table()
        shown = dict(table.rows)
        self.assertTrue(shown["`SIMT_THREADS=n`"].startswith("how many CPU threads"))
        page = (ROOT / "docs" / "simulator.md").read_text()
        self.assertIn("```{made} settings\n```", page[page.index("## Settings") :])

    def test_an_entry_of_another_form_is_no_entry(self):
        with self.assertRaises(ValueError):
            simulator_settings.read('{"SIMT_ONE", "n", "all"}, {"SIMT_TWO", kNumber, "none"}')

    def test_the_compiler_knows_of_the_house_only_its_settings_and_zones(self):
        files = [file for file in COMPILER.rglob("*") if file.is_file()]
        known = {
            name
            for file in files
            for name in INCLUDE.findall(file.read_text())
            if "/" in name and name.split("/")[0] not in COMPILER_MAY_INCLUDE
        }
        self.assertEqual(known, {"base/settings_table.h", "base/zones.h"})

    def test_the_page_names_what_there_is(self):
        """docs/inside.md and its drawing name functions and files: all of them exist."""
        page = (ROOT / "docs" / "inside.md").read_text()
        drawing = (ROOT / "tools" / "warp" / "site" / "figures" / "simulator.py").read_text()
        sources = "".join(
            file.read_text()
            for folder in [*FOLDERS, "include"]
            for file in (HOUSE / folder).rglob("*")
            if file.is_file()
        )
        sources += "".join(f"__tsan_{kind}{size}() " for kind in ("read", "write") for size in (1, 2, 4, 8, 16))
        outside = {"cudaGetLastError", "__syncwarp"}
        named = set(re.findall(r"[`\"]((?:\w+::)*\w+)\(\)[`\"]", page + drawing))
        self.assertGreater(len(named), 30)
        for name in named:
            last = name.rsplit("::", 1)[-1]
            self.assertTrue(last in outside or re.search(rf"\b{last}\(", sources), name)
            if "::" in name:
                self.assertRegex(sources, rf"\b(class|struct) {name.split('::')[0]}\b")
        for constant in re.findall(r"`(k[A-Z]\w+)`", page):
            self.assertTrue(re.search(rf"\b{constant}\b.* = ", sources), constant)
        files = set(re.findall(r"`((?:{}|include)/[\w/]+\.(?:cpp|h))`".format("|".join(FOLDERS)), page))
        self.assertGreater(len(files), 12)
        for file in files:
            self.assertTrue((HOUSE / file).is_file(), file)
        for folder in re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE):
            self.assertIn(folder, FOLDERS)


class WrongHouse(unittest.TestCase):
    """The checks see what is wrong."""

    def house(self, **files):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = pathlib.Path(temporary.name)
        for name in FOLDERS:
            (folder / name).mkdir()
        for name, text in files.items():
            path = folder / name.replace("__", "/").replace("_h", ".h")
            path.write_text(text)
        return folder

    def test_an_arrow_upwards(self):
        house = self.house(count__table_h='#include "exec/warp.h"\n')
        self.assertEqual(wrong_arrows(house), ["count/table.h includes exec/warp.h: count may include program, base"])

    def test_lab(self):
        house = self.house(report__trace_h='#include "lab/timing.h"\n')
        wrong = "report/trace.h includes lab/timing.h: report may include program, base, memory, count"
        self.assertEqual(wrong_arrows(house), [wrong])

    def test_a_circle(self):
        house = self.house(check__a_h='#include "check/b.h"\n', check__b_h='#include "check/a.h"\n')
        self.assertEqual(circles(house), ["check/a.h -> check/b.h -> check/a.h"])
