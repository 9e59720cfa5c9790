"""tools/check_words.py counts comments that open with a word such as What, and fails when a file gets more of them."""

import json
import unittest

from made_up_tree import TreeTest

COUNTED = """// What it is.
int a;  // whether it holds
// Rows of b,
// what is theirs, too.
int b;  // of the matrix
"""


class CheckWords(TreeTest):
    def check(self, *words):
        return self.run_tool("check_words.py", "--root", self.root, *words)

    def record(self, counts):
        self.write("tools/words.json", json.dumps(counts))

    def recorded(self):
        return json.loads((self.root / "tools/words.json").read_text())

    def count(self, text):
        self.record({})
        self.write("src/a.h", text)
        self.check("--update", "--allow-worse")
        return self.recorded().get("src/a.h", 0)

    def test_above_and_beside_code(self):
        self.write("src/a.h", COUNTED)
        self.assertIn("1 of 2 above code, 1 of 2 beside it", self.check()[1])

    def test_a_block_counts_once(self):
        self.assertEqual(self.count("// Rows,\n// of a matrix.\nint a;\n// Of b.\nint b;\n"), 1)

    def test_what_is_continued_below_code_counts_once(self):
        self.assertEqual(self.count("int a;  // rows,\n        // which are long\n// Which it is.\nint b;\n"), 1)

    def test_whole_words_in_any_case(self):
        self.assertEqual(self.count("// Offsets.\nint a;\n// The same as a.\nint b;\n// the samples\nint c;\n"), 1)

    def test_literals_are_no_comments(self):
        self.assertEqual(self.count('const char* a = "// What";\n'), 0)

    def test_new_comments_fail(self):
        self.write("include/assay/a.h", COUNTED)
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("include/assay/a.h: 2 comments open with a word such as What, Whether or Of; 0 are recorded", output)

    def test_recorded_counts_may_not_rise(self):
        self.record({"src/a.h": 2})
        self.write("src/a.h", COUNTED)
        self.assertEqual(self.check()[0], 0)
        self.write("src/a.h", COUNTED + "// How.\nint c;\n")
        self.assertIn("src/a.h: 3 comments", self.check()[1])

    def test_update_refuses_more_but_takes_moved_files(self):
        self.record({"src/a.h": 1})
        self.write("src/b.h", COUNTED)
        self.assertEqual(self.check("--update")[0], 1)
        self.record({"src/a.h": 2})
        self.assertEqual(self.check("--update")[0], 0)
        self.assertEqual(self.recorded(), {"src/b.h": 2})

    def test_all_lists_places(self):
        self.write("src/a.h", COUNTED)
        self.assertIn("src/a.h:2: whether it holds\n", self.check("--all")[1])

    def test_tests_are_exempt(self):
        self.write("src/a_test.cpp", COUNTED)
        self.write("tests/a.h", COUNTED)
        self.assertEqual(self.check()[0], 0)


if __name__ == "__main__":
    unittest.main()
