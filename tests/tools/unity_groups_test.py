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

    def test_targets_stay_apart(self):
        for name in ("one", "other", "third"):
            self.write(f"src/m/{name}.cpp", f"int {name}();\n")
        one, other, third = (str(self.root / f"src/m/{name}.cpp") for name in ("one", "other", "third"))
        status, said = self.run_tool("unity_groups.py", str(self.root), "a:", one, other, "b:", third)
        self.assertEqual((status, said), (0, f"set_source_files_properties({one} {other} PROPERTIES UNITY_GROUP m_0)\n"))

    def test_names_that_are_declared_twice(self):
        for declaration in ("int f() {\n  return 1;\n}", "struct f {\n  int x;\n};", "constexpr int g = 1, f = 2;", "using f = int;",
                            "std::vector<int> f(const X& x,\n                   int y) {\n}", "enum class f { a };"):
            declaration = declaration.replace("g = 1, f", "kG = 1, kF")
            with self.subTest(declaration):
                name = "kF" if "kF" in declaration else "f"
                self.assertEqual(self.groups(m__one=hidden(declaration), m__other=hidden(f"void {name}();")), [])

    def test_words_that_mean_something_else(self):
        self.write("src/m/f.h", "#pragma once\nnamespace assay {\nint f();\n}\n")
        including = '#include "m/f.h"\n'
        one = including + hidden("int f() { return 1; }")
        for text, is_apart in (("int g() { return f(); }", True), ("int g() { return x.f(); }", False),
                               ("int g() { return assay::f(); }", False), ('auto g = "f";  // f', False)):
            with self.subTest(text):
                groups = self.groups(m__one=one, m__other=including + hidden("", text))
                self.assertEqual(groups, [] if is_apart else [{"m__one", "m__other"}])

    def test_words_of_headers_that_only_one_includes(self):
        self.write("src/m/f.h", "#pragma once\nnamespace assay {\nint f();\ninline int g() { return f(); }\n}\n")
        one, including = hidden("int f() { return 1; }"), '#include "m/f.h"\n'
        self.assertEqual(self.groups(m__one=one, m__other=including), [])
        self.assertEqual(self.groups(m__one=including + one, m__other=including), [{"m__one", "m__other"}])

    def test_names_of_locals_come_first(self):
        one = hidden("int f() { return 1; }")
        self.assertEqual(self.groups(m__one=one, m__other=hidden("", "int g(int f) { return f; }")), [{"m__one", "m__other"}])

    def test_constants_and_types_that_locals_would_hide(self):
        for name in ("kSize", "Size"):
            one = hidden(f"constexpr int {name} = 1;" if name == "kSize" else f"struct {name} {{}};")
            self.assertEqual(self.groups(m__one=one, m__other=hidden("", f"int g() {{ using {name} = int; }}")), [])

    def test_names_of_headers_that_hide_outer_ones(self):
        self.write("src/m/outer.h", "#pragma once\nnamespace assay {\nint join(int x);\n}\n")
        self.write("src/m/inner.h", "#pragma once\nnamespace assay::m {\nint join(int x);\n}\n")
        one = '#include "m/inner.h"\n'
        for scope, groups in (("assay::m", []), ("assay::n", [{"m__one", "m__other"}])):
            with self.subTest(scope):
                other = f'#include "m/outer.h"\nnamespace {scope} {{\nint g() {{ return join(1); }}\n}}\n'
                self.assertEqual(self.groups(m__one=one, m__other=other), groups)

    def test_constants_and_types_of_another_namespace(self):
        def own(declaration, scope="assay::m"):
            return f"namespace {scope} {{\nnamespace {{\n{declaration}\n}}  // namespace\n}}\n"

        for declaration, scope, is_apart in (("constexpr int kF = 1;", "assay::n", False), ("struct Size {};", "assay::n", False),
                                             ("constexpr int kF = 1;", "assay", True), ("struct Size {};", "assay::m::n", True),
                                             ("int f(X x);", "assay::n", True)):
            with self.subTest(declaration, scope=scope):
                groups = self.groups(m__one=own(declaration), m__other=own(declaration, scope))
                self.assertEqual(groups, [] if is_apart else [{"m__one", "m__other"}])

    def test_using_declarations_may_be_repeated(self):
        for line in ("using b::T;", "namespace T = b::d;"):
            with self.subTest(line):
                using = f"namespace a {{\n{line}\nT x();\n}}\n"
                self.assertEqual(self.groups(m__one=using, m__other=using), [{"m__one", "m__other"}])
                self.assertEqual(self.groups(m__one=using, m__other=using.replace("b::", "c::")), [])

    def test_namespaces_that_are_opened(self):
        self.write("src/m/f.h", "#pragma once\nnamespace assay::n {\nint f();\n}\n")
        opening = "namespace assay::m {\nusing namespace n;\n}\n"
        self.assertEqual(self.groups(m__one=opening, m__other=opening), [{"m__one", "m__other"}])
        self.assertEqual(self.groups(m__one=opening, m__other=""), [])
        own = opening + "namespace assay::m {\nnamespace {\nint f();\n}  // namespace\n}\n"
        self.assertEqual(self.groups(m__one='#include "m/f.h"\n' + opening, m__other=own), [])

    def test_tests_are_no_names(self):
        tests = hidden("TEST(A, b) {\n  f();\n}"), hidden("TEST(A, c) {\n  f();\n}")
        self.assertEqual(self.groups(m__one=tests[0], m__other=tests[1]), [{"m__one", "m__other"}])

    def test_macros_stay_alone(self):
        self.assertEqual(self.groups(m__one="#define F 1\n", m__other="int g();\n"), [])


if __name__ == "__main__":
    unittest.main()
