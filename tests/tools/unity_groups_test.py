"""tools/unity_groups.py puts sources together only where none can mean something else for it."""

import unittest

from made_up_tree import TreeTest


def hidden(declarations, used=""):
    return f"namespace a {{\nnamespace {{\n\n{declarations}\n\n}}  // namespace\n\n{used}\n}}  // namespace a\n"


class UnityGroups(TreeTest):
    def groups(self, **sources):
        """Which sources are read together, as sets of names."""
        for name, text in sources.items():
            self.write(f"src/{name.replace('__', '/')}.cpp", text)
        paths = [str(self.root / "src" / f"{name.replace('__', '/')}.cpp") for name in sources]
        status, said = self.run_tool("unity_groups.py", str(self.root), *paths)
        self.assertEqual(status, 0, said)
        return [{name for name in sources if f"/{name.replace('__', '/')}.cpp" in line} for line in said.splitlines()]

    def test_sources_of_a_module_are_read_together(self):
        one, other = hidden("int f() { return 1; }"), hidden("int g() { return 2; }")
        self.assertEqual(self.groups(m__one=one, m__other=other, n__third=hidden("int h();")), [{"m__one", "m__other"}])

    def test_names_that_are_declared_twice(self):
        for declaration in ("int f() {\n  return 1;\n}", "struct f {\n  int x;\n};", "constexpr int g = 1, f = 2;", "using f = int;",
                            "std::vector<int> f(const X& x,\n                   int y) {\n}", "enum class f { a };"):
            declaration = declaration.replace("g = 1, f", "kG = 1, kF")
            with self.subTest(declaration):
                name = "kF" if "kF" in declaration else "f"
                self.assertEqual(self.groups(m__one=hidden(declaration), m__other=hidden(f"void {name}();")), [])

    def test_words_of_others(self):
        one = hidden("int f() { return 1; }")
        self.assertEqual(self.groups(m__one=one, m__other=hidden("", "int g() { return f(); }")), [])
        self.assertEqual(self.groups(m__one=one, m__other=hidden("", "int g() { return x.f(); }")), [{"m__one", "m__other"}])
        self.assertEqual(self.groups(m__one=one, m__other=hidden("", 'auto g = "f";  // f')), [{"m__one", "m__other"}])

    def test_words_of_headers_that_only_one_includes(self):
        self.write("src/m/x.h", "#pragma once\nint f();\n")
        one, including = hidden("int f() { return 1; }"), '#include "m/x.h"\n'
        self.assertEqual(self.groups(m__one=one, m__other=including), [])
        self.assertEqual(self.groups(m__one=including + one, m__other=including), [{"m__one", "m__other"}])

    def test_using_declarations_may_be_repeated(self):
        using = "namespace a {\nusing b::T;\nT x();\n}\n"
        self.assertEqual(self.groups(m__one=using, m__other=using), [{"m__one", "m__other"}])
        self.assertEqual(self.groups(m__one=using, m__other=using.replace("b::", "c::")), [])

    def test_tests_are_no_names(self):
        tests = hidden("TEST(A, b) {\n  f();\n}"), hidden("TEST(A, c) {\n  f();\n}")
        self.assertEqual(self.groups(m__one=tests[0], m__other=tests[1]), [{"m__one", "m__other"}])

    def test_macros_stay_alone(self):
        self.assertEqual(self.groups(m__one="#define F 1\n", m__other="int g();\n"), [])


if __name__ == "__main__":
    unittest.main()
