"""How a page is read: one answer for each question, drawings in the open and beside their prose."""

import unittest

import sample  # noqa: F401  puts tools on the path

try:
    from docutils import nodes

    from warp.site import margin, reading
except ImportError:
    nodes = None


def section(*children):
    document = nodes.section(ids=["s"])
    document += [nodes.title(text="S"), *children]
    return nodes.section("", document)


def text(letters):
    return nodes.paragraph(text="x" * letters)


def figure(high=0, caption=""):
    drawn = nodes.figure(classes=["drawn"])
    drawn["margin_height"] = high
    if caption:
        drawn += nodes.caption(text=caption)
    return drawn


def asks(name, said="Counted: 4."):
    return reading.question(classes=["prediction"], name=name, said=said, data="")


def listing():
    return nodes.container(classes=["counted-listing"])


def card(name, *inside):
    made = nodes.container(classes=["rung"], ids=[name])
    made += [nodes.paragraph(text=name, classes=["rung-title"]), *inside]
    return made


def tab(title):
    return reading.folded(classes=["tab"], names_for="", summary=title)


@unittest.skipUnless(nodes, "there is no docutils: ./learn setup --docs brings it")
class Answers(unittest.TestCase):
    def folded(self, *children):
        tree = section(*children)
        reading.fold_answers(None, tree)
        return tree[0], [fold for fold in tree.findall(reading.folded) if "answer" in fold["classes"]]

    def test_one_answer_lies_in_the_card_of_the_first_rung(self):
        numbers = nodes.container(classes=["numbers"])
        kernel, rung = listing(), card("a", numbers, tab("Counts"), tab("Contract"))
        why, later, other = text(9), listing(), card("b")
        top, answers = self.folded(asks("q"), kernel, rung, why, later, other)
        self.assertEqual(len(answers), 1)
        self.assertEqual(answers[0]["summary"], "Answer, with b")
        self.assertIs(answers[0].parent, rung)
        self.assertEqual([node.astext() for node in answers[0].children][0], "Counted: 4.")
        self.assertEqual(answers[0].children[1:], [numbers, answers[0][2], why, later, other])
        self.assertEqual(answers[0][2]["summary"], "Counts")
        self.assertEqual(rung[-1]["summary"], "Contract")  # says nothing of the answer
        self.assertIs(kernel.parent, top)

    def test_drawings_and_exercises_stay_in_the_open(self):
        drawn, exercise, why = figure(), nodes.container(classes=["trains"]), text(9)
        top, answers = self.folded(asks("q"), why, drawn, exercise)
        self.assertEqual(top.children[-3:], [answers[0], drawn, exercise])
        self.assertIs(why.parent, answers[0])

    def test_each_question_has_its_own_and_two_in_a_row_have_one(self):
        _, answers = self.folded(asks("a"), asks("b"), text(9), asks("c"), text(9))
        self.assertEqual([fold["names_for"] for fold in answers], ["a b", "c"])
        top, answers = self.folded(asks("a"), listing(), card("r", tab("Contract")))
        self.assertEqual([len(fold.children) for fold in answers], [1])
        self.assertEqual(self.folded(asks("nobody has measured it", said=""), listing())[1], [])


@unittest.skipUnless(nodes, "there is no docutils: ./learn setup --docs brings it")
class Margin(unittest.TestCase):
    def order(self, *children):
        tree = section(*children)
        margin.into_margin(None, tree)
        return [children.index(node) for node in tree[0].children[1:]], ["in-margin" in c["classes"] for c in children]

    def test_a_drawing_stands_beside_the_prose_behind_it_or_before_the_prose_in_front(self):
        tall = 8 * margin.LETTERS  # eight lines
        self.assertEqual(self.order(figure(150), text(tall)), ([0, 1], [True, False]))
        self.assertEqual(self.order(text(9), text(tall), figure(150)), ([0, 2, 1], [False, False, True]))
        self.assertEqual(self.order(text(tall), nodes.container(), figure(150), text(9))[1][2], False)

    def test_the_picture_at_the_top_of_a_page_stays_large(self):
        page, drawn = nodes.document(None, None), figure(150)
        top = nodes.section()
        top += [drawn, text(8 * margin.LETTERS)]
        page += top
        margin.into_margin(None, page)
        self.assertNotIn("in-margin", drawn["classes"])

    def test_one_that_is_too_high_for_its_prose_or_may_not_be_small_stays(self):
        for high in (400, margin.TALLEST + 50, 0):
            self.assertEqual(self.order(text(8 * margin.LETTERS), figure(high)), ([0, 1], [False, False]))
        long = "c" * 10 * margin.CAPTION_LETTERS
        self.assertEqual(self.order(figure(150, long), text(8 * margin.LETTERS))[1][0], False)


@unittest.skipUnless(nodes, "there is no docutils: ./learn setup --docs brings it")
class Notes(unittest.TestCase):
    """What stands beside prose on a wide screen, and is not made where there is no room."""

    NUMBERS = [["1.2 ms", "tiled"], ["80 %", "of the machine's limit"]]

    def placed(self, *children):
        tree = section(*children)
        margin.place_notes(None, tree)
        return tree[0].children[1:]

    def using(self, term, meaning, letters=400):
        paragraph = text(letters)
        paragraph += nodes.reference("", term, refuri="glossary.html", classes=["term"], reftitle=meaning)
        return paragraph

    def notes(self, children):
        return [node.astext() for node in children if margin.is_note(node)]

    def test_numbers_need_prose_behind_them(self):
        (note,) = margin.numbers(self.NUMBERS)
        said = "1.2 ms tiled\n\n80 % of the machine's limit"
        self.assertEqual(self.notes(self.placed(card("a"), note, text(200))), [said])
        (note,) = margin.numbers(self.NUMBERS)
        self.assertEqual(self.notes(self.placed(card("a"), note, text(20), listing())), [])
        (note,) = margin.numbers(self.NUMBERS)
        beside = nodes.figure(classes=["drawn", "in-margin"])
        self.assertEqual(self.notes(self.placed(card("a"), note, beside, text(900))), [])
        self.assertEqual(margin.numbers([]), [])

    def test_a_term_has_its_meaning_beside_it_once(self):
        first, second = self.using("warp", "32 threads."), self.using("warp", "32 threads.")
        children = self.placed(text(20), first, listing(), second, listing(), self.using("lane", "A thread of a warp."))
        self.assertEqual(self.notes(children), ["warp: 32 threads.", "lane: A thread of a warp."])
        self.assertIs(children[children.index(first) - 1], next(node for node in children if margin.is_note(node)))

    def test_one_note_a_run_and_none_without_room(self):
        two = self.placed(self.using("warp", "32 threads."), self.using("lane", "A thread of a warp."))
        self.assertEqual(self.notes(two), ["warp: 32 threads."])
        self.assertEqual(self.notes(self.placed(self.using("warp", "m" * 120, letters=20))), [])
        self.assertEqual(self.notes(self.placed(self.using("warp", "m" * 300, letters=2000))), [])
        (note,) = margin.numbers(self.NUMBERS)
        self.assertEqual(len(self.notes(self.placed(note, self.using("warp", "32 threads.")))), 1)

    def test_an_answer_has_its_notes(self):
        (note,) = margin.numbers(self.NUMBERS)
        tree = section(asks("q"), listing(), card("a", tab("Counts")), note, text(300))
        reading.fold_answers(None, tree)
        margin.place_notes(None, tree)
        (answer,) = [fold for fold in tree.findall(reading.folded) if "answer" in fold["classes"]]
        self.assertIs(note.parent, answer)  # it tells what is asked
