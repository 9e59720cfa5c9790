"""Every rule of tools/check_text.py fails on a tree that breaks it."""

import unittest

from made_up_tree import TreeTest


class CheckText(TreeTest):
    def check(self, text):
        self.write("docs/page.md", text)
        return self.run_tool("check_text.py", self.root)

    def test_clean_text_passes(self):
        self.assertEqual(self.check("build/work/x, src/root/y, ~/work/z, the roots\n"), (0, ""))

    def test_machine_paths_and_folders_beside(self):
        for text in ("see /" + "work/main", "'/" + "root/x'", "../" + "shared/y", "<" * 7 + " HEAD", "// TO" + "DO: all"):
            status, output = self.check("first line\n" + text + "\n")
            self.assertEqual(status, 1, text)
            self.assertIn("docs/page.md:2:", output)

    def test_folders_of_the_machine_are_left_out(self):
        self.write("build/x.txt", "/" + "root/x")
        self.assertEqual(self.check(""), (0, ""))


if __name__ == "__main__":
    unittest.main()
