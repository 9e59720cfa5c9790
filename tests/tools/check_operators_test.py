"""tools/check_operators.py counts lists and files that name operators, and fails on more than are recorded."""

import json
import unittest

from made_up_tree import TreeTest

SCHEMAS = "# NAME SINCE\nAdd 7 | a\nSub 7 | a\nMul 7 | a\nai.onnx.ml::Scaler 1 | a\n"


class CheckOperators(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("src/schema/schemas.txt", SCHEMAS)
        self.write("src/schema/schemas_microsoft.txt", "com.microsoft::Gelu 1 | a\n")
        self.limit(files=9, lists=9, names=99)

    def limit(self, **numbers):
        self.write("tools/operators.json", json.dumps(numbers))

    def check(self, *words):
        return self.run_tool("check_operators.py", "--root", self.root, *words)

    def numbers_of(self, text, path="src/a/a.cpp"):
        self.write(path, text)
        status, printed = self.check()
        self.assertEqual(status, 0, printed)
        return [int(part.split()[0]) for part in printed.removeprefix("operators: ").split(", ")]

    def test_an_initializer_of_three_names_is_a_list(self):
        self.assertEqual(self.numbers_of('constexpr Words kAll = {"Add", "Gelu",\n  "Scaler"};\n'), [1, 1, 3])

    def test_two_names_are_none(self):
        self.assertEqual(self.numbers_of('Words kTwo = {"Add", "Sub", "Add", "Other"};\n'), [1, 0, 0])

    def test_rows_of_facts_are_one_list(self):
        self.assertEqual(self.numbers_of('Row kRows[] = {{"Add", 1, kA}, {"Sub", 2, Kind::b}, {"Mul", 3}};\n'), [1, 1, 3])

    def test_a_condition_is_a_list(self):
        text = 'bool f() {\n  call();\n  return op == "Add" || op == "Sub" || op == "Mul";\n}\n'
        self.assertEqual(self.numbers_of(text), [1, 1, 3])

    def test_statements_are_counted_apart(self):
        text = 'void f() {\n  if (op == "Add") g();\n  if (op == "Sub") g();\n  if (op == "Mul") g();\n}\n'
        self.assertEqual(self.numbers_of(text), [1, 0, 0])

    def test_functions_beside_names_are_code(self):
        text = 'Rule kRules[] = {{"Add", add}, {"Sub", "", &A::sub, true}, {"Mul", [](int a) { f(a); }}};\n'
        self.assertEqual(self.numbers_of(text), [1, 0, 0])

    def test_comments_and_other_words_do_not_count(self):
        self.assertEqual(self.numbers_of('// "Add" "Sub" "Mul"\nWords kWords = {"add", "Subtract"};\n'), [0, 0, 0])

    def test_what_describes_operators_and_tests_may_name_them(self):
        for path in ("src/ops/operators/a.cpp", "src/schema/a.cpp", "src/passes/opset/a.cpp", "src/a/a_test.cpp"):
            self.assertEqual(self.numbers_of('Words kAll = {"Add", "Sub", "Mul"};\n', path), [0, 0, 0])

    def test_more_than_recorded_fails(self):
        self.limit(files=1, lists=0, names=3)
        self.write("src/a/a.cpp", 'Words kAll = {"Add", "Sub", "Mul"};\n')
        status, printed = self.check()
        self.assertEqual(status, 1)
        self.assertIn("1 lists name operators; tools/operators.json allows 0", printed)

    def test_update_records_smaller_numbers_only(self):
        self.write("src/a/a.cpp", 'Words kAll = {"Add", "Sub", "Mul"};\n')
        self.assertEqual(self.check("--update")[0], 0)
        recorded = json.loads((self.root / "tools/operators.json").read_text())
        self.assertEqual(recorded, {"files": 1, "lists": 1, "names": 3})
        self.write("src/a/b.cpp", 'Words kAll = {"Add", "Sub", "Mul"};\n')
        self.assertEqual(self.check("--update")[0], 1)
        self.assertEqual(json.loads((self.root / "tools/operators.json").read_text()), recorded)


if __name__ == "__main__":
    unittest.main()
