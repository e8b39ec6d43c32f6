"""Chapters by number, name, prefix and path; headers; sizes."""

import os

import fake

from warp.base import paths
from warp.base.errors import UsageError
from warp.chapter import chapters


class Chapters(fake.Checkout):
    def setUp(self):
        super().setUp()
        self.add_chapter("03_matrix_transpose", "Transpose", ("naive", "padded"), "64,64", "32,32")
        was = paths.CHAPTERS
        paths.CHAPTERS = os.path.join(self.root, "chapters")
        self.addCleanup(setattr, paths, "CHAPTERS", was)
        self.known = chapters.all_chapters()

    def key(self, word):
        return chapters.find(word, self.known).key

    def refuse(self, call, *arguments):
        with self.assertRaises(UsageError) as caught:
            call(*arguments)
        return caught.exception.message

    def test_found_by_all_its_names(self):
        for word in ("1", "01", "01_first_steps", "first_steps", "first-steps", "fir", "01_f", "First"):
            self.assertEqual(self.key(word), "01_first_steps", word)
        self.assertEqual(self.key("chapters/03_matrix_transpose/"), "03_matrix_transpose")
        self.assertEqual(self.key("./chapters/02_matrix/matrix.cu"), "02_matrix")

    def test_a_whole_name_wins_over_a_prefix(self):
        self.assertEqual(self.key("matrix"), "02_matrix")

    def test_the_first_rung_is_one_of_the_source(self):
        chapter = self.known[2]
        for text, first in (
            ("", "naive"),
            ("naive padded(int n)", "padded"),
            ("void naive(); __global__ void __launch_bounds__(2) padded(int n) {}", "padded"),
            ("void naive(); void padded();", "naive"),
        ):
            fake.write(chapter.source, text)
            self.assertEqual(chapter.first_rung(), first)
        # Of those asked for, the first that the simulator can show.
        for asked, first in ((["padded"], "padded"), (["padded", "naive"], "padded"), (["other"], "naive")):
            self.assertEqual(chapter.first_rung(asked), first)
        fake.write(chapter.source, "void naive();")
        self.assertEqual(chapter.first_rung(["padded"]), "naive")

    def test_ambiguous_and_unknown(self):
        self.assertIn("02_matrix or 03_matrix_transpose", self.refuse(self.key, "matr"))
        self.assertIn("did you mean 01_first_steps?", self.refuse(self.key, "frist_steps"))
        self.assertIn("did you mean 03_matrix_transpose?", self.refuse(self.key, "transpos"))
        self.assertIn("01_first_steps ... 03_matrix_transpose", self.refuse(self.key, "99"))

    def test_header(self):
        first = self.known[0]
        self.assertEqual((first.number, first.title, first.problem), ("01", "First steps", ""))
        self.assertEqual(first.question, "What does First steps ask?")
        self.assertEqual(list(first.rungs), ["one", "two"])
        self.assertEqual((first.size("gpu"), first.size("simulator")), ("1000", "100"))
        self.assertEqual(first.builds_on, [])

    def test_a_faulty_header_is_told(self):
        self.write("chapters/04_bad/bad.cu", "int main() {}\n")
        os.makedirs(os.path.join(self.root, "chapters", "05_empty"))
        bad, empty = chapters.all_chapters()[3:]
        self.assertIn("bad.cu", bad.problem)
        self.assertIn("cannot read", empty.problem)

    def test_rungs(self):
        both = chapters.check_rung("naive", self.known)
        self.assertEqual([c.key for c in both], ["02_matrix", "03_matrix_transpose"])
        message = self.refuse(chapters.check_rung, "naiv", [self.known[1]])
        self.assertIn("did you mean naive?", message)
        message = self.refuse(chapters.check_rung, "zzz", [self.known[1]])
        self.assertIn("naive or tiled", message)

    def test_sizes(self):
        for size, chapter in (("1", 0), ("1000003", 0), ("1,2,3", 1), ("5,7", 2)):
            self.assertEqual(chapters.check_size(size, [self.known[chapter]]), size)
        for size in ("0", "-5", "1.5", "x", "", "1,", ",1", "1e6", "1 2", "1٣", "1\n", "99999999999999999999"):
            self.assertIn("is no size", self.refuse(chapters.check_size, size, [self.known[0]]), size)
        self.assertIn("rows,cols", self.refuse(chapters.check_size, "5", [self.known[2]]))
        self.assertIn("M,N,K", self.refuse(chapters.check_size, "5,5", [self.known[1]]))
