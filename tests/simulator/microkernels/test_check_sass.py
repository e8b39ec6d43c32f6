"""What check_sass.py takes for a memory instruction."""

import collections
import unittest

import check_sass

KERNEL = """
        Function : _Z11cp4_stride19Arguments
        /*0020*/                   LDG.E R9, desc[UR6][R2.64] ;
        /*01c0*/              @!PT LDS RZ, [RZ] ;
        /*01f0*/              @!P1 LDGSTS.E [R5], desc[UR6][R2.64] ;
        /*0260*/              @UP0 LDS R11, [R9] ;
        /*0270*/                   IADD3 R2, R2, R3, RZ ;
"""


class Sass(unittest.TestCase):
    def holds(self, text):
        return check_sass.compare({"cp4_stride1": collections.Counter(text.split())}, KERNEL)

    def test_what_is_never_carried_out_is_left_out(self):
        self.assertEqual(self.holds("LDG LDGSTS LDS"), [])

    def test_one_too_many_is_noticed(self):
        self.assertEqual(
            self.holds("LDG LDGSTS"), ["cp4_stride1: must hold LDG:1 LDGSTS:1, holds LDG:1 LDGSTS:1 LDS:1"]
        )
        self.assertEqual(len(self.holds("LDG LDGSTS LDS LDS")), 1)

    def test_a_kernel_without_a_case_is_noticed(self):
        self.assertEqual(check_sass.compare({}, KERNEL), ["cp4_stride1: a kernel that no case names"])
