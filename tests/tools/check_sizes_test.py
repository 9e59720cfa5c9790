"""tools/check_sizes.py counts what C++ and Python mean, fails on what is new or worse, and warns about the rest."""

import json
import sys
import unittest

from made_up_tree import ROOT, TreeTest

sys.path.insert(0, str(ROOT / "tools"))
import cpp_scan  # noqa: E402


def function_of(lines, name="f"):
    return f"int {name}() {{\n" + "  call();\n" * (lines - 2) + "}\n"


class Scan(unittest.TestCase):
    def one(self, text):
        functions, _ = cpp_scan.scan(text)
        self.assertEqual(len(functions), 1, functions)
        return functions[0]

    def test_name_lines_and_place(self):
        f = self.one("namespace a {\n\nclass B {\n public:\n  int size() const {\n    return 1;\n  }\n};\n}\n")
        self.assertEqual((f.name, f.line, f.lines, f.parameters), ("size", 5, 3, 0))

    def test_parameters(self):
        f = self.one("template <typename T, int N>\nvoid g(std::map<int, T> a, int (*b)(int, int), C c = {1, 2}) {}\n")
        self.assertEqual((f.name, f.parameters), ("g", 3))

    def test_constructor_with_brace_initializers(self):
        f = self.one("X::X(int a, int b) : a_{a}, b_(b), c_{1, 2} {\n  run();\n}\n")
        self.assertEqual((f.name, f.parameters, f.lines), ("X::X", 2, 3))

    def test_operators(self):
        self.assertEqual(self.one("bool operator==(const A& a, const A& b) { return true; }").parameters, 2)
        self.assertEqual(self.one("int A::operator()(int a) { return a; }").parameters, 1)

    def test_comments_and_literals_are_no_code(self):
        f = self.one("""void f() {\n  // {\n  /* { */ a("{", '{', R"x({)x");\n  b(1'000'000);\n}\n""")
        self.assertEqual(f.lines, 5)

    def test_nesting(self):
        f = self.one("void f() {\n  for (;;) {\n    if (a) {\n      while (b) {\n      }\n"
                     "    } else if (c) {\n    }\n  }\n}\n")
        self.assertEqual(f.nesting, 3)

    def test_lambda_belongs_to_its_function(self):
        f = self.one("void f() {\n  run([&](int a) {\n    return a;\n  });\n  const auto g = [] {\n  };\n}\n")
        self.assertEqual((f.lines, f.nesting), (7, 0))

    def test_tables_do_not_count(self):
        f = self.one("C f() {\n  return {\n      .a = 1,\n"
                     "      .rows =\n          {\n              1,\n          },\n  };\n}\n")
        self.assertLess(f.lines, 5)
        functions, table_lines = cpp_scan.scan("constexpr A kTable[] = {\n    {1},\n    {2},\n};\n")
        self.assertEqual((functions, table_lines), ([], 3))

    def test_rows_of_a_switch_do_not_count(self):
        rows = "".join(f"    case {value}:\n      return g({value});\n" for value in range(50))
        f = self.one(f"int f() {{\n  switch (a) {{\n{rows}  }}\n  return 0;\n}}\n")
        self.assertLess(f.lines, 8)


class CheckSizes(TreeTest):
    def check(self, *words):
        return self.run_tool("check_sizes.py", "--root", self.root, *words)

    def record(self, functions):
        self.write("tools/sizes.json", json.dumps({"function": functions, "file": {}}))

    def test_small_code_passes_silently(self):
        self.write("src/a.cpp", function_of(20))
        self.assertEqual(self.check(), (0, ""))

    def test_warning(self):
        self.write("src/a.cpp", function_of(21))
        status, output = self.check()
        self.assertEqual(status, 0)
        self.assertIn("1 functions over 20 lines (most: 21, src/a.cpp:f)", output)

    def test_new_long_function_fails(self):
        self.write("src/a.cpp", function_of(41))
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("src/a.cpp:f: function of 41 lines; the limit is 40", output)

    def test_recorded_function_may_not_grow(self):
        self.record({"src/a.cpp:f": 45})
        self.write("src/a.cpp", function_of(45))
        self.assertEqual(self.check()[0], 0)
        self.write("src/a.cpp", function_of(46))
        self.assertIn("it had 45", self.check()[1])

    def test_long_file_fails(self):
        self.write("src/a.cpp", "".join(function_of(20, f"f{index}") for index in range(21)))
        self.assertIn("src/a.cpp: file of 420 lines; the limit is 400", self.check()[1])

    def test_python_and_its_parameters(self):
        self.write("tools/a.py", "class A:\n  def f(self, a, b, c, d, e):\n" + "    call()\n" * 50)
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("tools/a.py:f: function of 51 lines", output)
        self.assertIn("1 functions with more than 4 parameters (most: 5", output)

    def test_tests_are_exempt(self):
        self.write("tests/a.cpp", function_of(60))
        self.write("src/a_test.cpp", function_of(60))
        self.assertEqual(self.check(), (0, ""))

    def test_update_refuses_to_raise(self):
        self.write("tools/sizes.json", "{}")
        self.write("src/a.cpp", function_of(50))
        self.assertEqual(self.check("--update")[0], 1)
        self.assertEqual(self.check("--update", "--allow-worse")[0], 0)
        self.assertEqual(self.check()[0], 0)
        self.write("src/a.cpp", function_of(10))
        self.assertEqual(self.check("--update")[0], 0)
        self.assertEqual(json.loads((self.root / "tools/sizes.json").read_text())["function"], {})


if __name__ == "__main__":
    unittest.main()
