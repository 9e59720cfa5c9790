"""Every rule of tools/check_layers.py fails on a tree that breaks it."""

import unittest

from made_up_tree import TreeTest


class CheckLayers(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("CMakeLists.txt", "# assay_module(no)\nassay_module(base)\nassay_module(ir\n  DEPS base)\n"
                                     "assay_module(backends/one DEPS base)\nassay_module(backends/two KERNELS DEPS base)\n")
        self.write("src/base/a.h", "#pragma once\n#include <fmt/core.h>\n#include <sys/mman.h>\n#include <vector>\n")
        self.write("src/ir/b.h", '#include "base/a.h"\n#include "ir/b.h"\n')
        self.write("src/backends/one/c.h", '#include "base/a.h"\n')

    def check(self):
        return self.run_tool("check_layers.py", self.root)

    def assert_finding(self, *parts):
        status, output = self.check()
        self.assertEqual(status, 1, output)
        for part in parts:
            self.assertIn(part, output)
        self.assertIn("check_layers: 1 findings", output)

    def test_allowed_includes_pass(self):
        self.write("src/base/a.cpp", '#include <rapidjson/document.h>\n#include "base/a.h"\n')
        self.assertEqual(self.check(), (0, ""))

    def test_include_against_the_table(self):
        self.write("src/base/a.cpp", '\n#  include "ir/b.h"\n')
        self.assert_finding("src/base/a.cpp:2:", "module base may not include ir")

    def test_one_backend_may_not_see_another(self):
        self.write("src/backends/two/d.cpp", '#include "backends/one/c.h"\n')
        self.assert_finding("src/backends/two/d.cpp:1:", "may not include backends/one")

    def test_tests_may_include_every_module_and_test_support(self):
        self.write("tests/support/s.h", "")
        self.write("src/base/a_test.cpp", '#include "ir/b.h"\n#include "support/s.h"\n')
        self.assertEqual(self.check(), (0, ""))

    def test_public_headers_stand_alone(self):
        self.write("include/assay/x.h", '#include <vector>\n#include "assay/y.h"\n')
        self.write("include/assay/y.h", "")
        self.assertEqual(self.check(), (0, ""))
        self.write("include/assay/y.h", "#include <fmt/core.h>\n")
        self.assert_finding("include/assay/y.h:1:", "no third-party header")
        self.write("include/assay/y.h", '#include "base/a.h"\n')
        self.assert_finding("include/assay/y.h:1:", '"base/a.h" is not a file below include/')

    def test_only_the_command_line_names_options(self):
        self.write("CMakeLists.txt", "assay_module(base)\nassay_module(cli DEPS base)\n")
        self.write("src/ir/b.h", "")
        self.write("src/backends/one/c.h", "")
        self.write("src/cli/a.cpp", 'const char* a = "use --max-steps";  // --max-steps\n')
        self.write("src/base/a_test.cpp", 'const char* a = "use --max-steps";\n')
        self.write("src/base/b.cpp", "int b(int --depth) { return --depth; }\n")
        self.assertEqual(self.check(), (0, ""))
        self.write("src/base/a.cpp", 'const char* a = "use --max-steps";\n')
        self.assert_finding("src/base/a.cpp:1:", "names --max-steps: only module cli knows options")
        self.write("src/base/a.cpp", "// As --max-steps says.\n")
        self.assert_finding("src/base/a.cpp:1:", "names --max-steps")

    def test_only_the_library_uses_public_headers(self):
        self.write("include/assay/error.h", "")
        self.write("include/assay/x.h", "")
        self.write("src/base/a.cpp", '#include "assay/error.h"\n')
        self.assertEqual(self.check(), (0, ""))
        self.write("src/base/a.cpp", '#include "assay/x.h"\n')
        self.assert_finding("src/base/a.cpp:1:", "only module library may include")

    def test_the_table_for_readers_says_the_same(self):
        rows = ["| module | may include |", "|---|---|", "| base | – |", "| ir | base |", "| backends/one | base |",
                "| backends/two | base |"]
        self.write("ARCHITECTURE.md", "\n".join(rows) + "\n")
        self.assertEqual(self.check(), (0, ""))
        self.write("ARCHITECTURE.md", "\n".join(rows).replace("| ir | base |", "| ir | – |") + "\n")
        self.assert_finding("ARCHITECTURE.md: the row of module ir is not what CMakeLists.txt says: base")
        self.write("ARCHITECTURE.md", "\n".join(rows[:-1]) + "\n")
        self.assert_finding("the row of module backends/two")

    def test_missing_file(self):
        self.write("src/base/a_test.cpp", '#include "ir/none.h"\n')
        self.assert_finding("src/base/a_test.cpp:1:", "is not a file below src/")

    def test_include_relative_to_the_file(self):
        self.write("src/base/a.cpp", '#include "a.h"\n')
        self.assert_finding("src/base/a.cpp:1:", '"a.h" is not a file below src/')

    def test_folder_without_module(self):
        self.write("src/new/a.cpp", '#include "base/a.h"\n')
        self.assert_finding("src/new/a.cpp:1:", "no assay_module holds src/new/a.cpp")

    def test_third_party_header_in_a_header(self):
        self.write("src/base/j.h", "#include <rapidjson/document.h>\n")
        self.assert_finding("src/base/j.h:1:", "no third-party header")

    def test_circle(self):
        self.write("CMakeLists.txt", "assay_module(base DEPS ir)\nassay_module(ir DEPS base)\n")
        self.write("src/backends/one/c.h", "")
        self.assert_finding("in a circle: base, ir")

    def test_unknown_module(self):
        modules = ["assay_module(base)", "assay_module(ir DEPS base bse)", "assay_module(backends/one DEPS base)"]
        self.write("CMakeLists.txt", "\n".join(modules))
        self.assert_finding("ir depends on bse, which is no module")


if __name__ == "__main__":
    unittest.main()
