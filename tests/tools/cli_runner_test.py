"""The runner of golden tests: what passes, what fails and with which words, and what an update writes."""

import os
import unittest

from made_up_tree import ROOT, TreeTest

# Stands in for the program: `echo WORDS`, `fail`, `cat` (standard input), `where` (its folder), `json`.
PROGRAM = """#!/bin/sh
verb=$1
shift
case $verb in
  echo) echo "$@" ;;
  fail) echo "error: no" >&2; exit 2 ;;
  cat) cat; printf end ;;
  where) echo "$PWD took 1.25 ms" ;;
  json) echo '{"a": [1], "timings": {"run_seconds": '$$'}}' ;;
esac
"""


class Runner(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("program", PROGRAM)
        os.chmod(self.root / "program", 0o755)

    def run_test(self, text, *words):
        self.write("cli/some.test", text)
        runner = ROOT / "tests" / "cli" / "runner"
        return self.run_tool(runner, "--program", self.root / "program", *words, self.root / "cli")

    def assert_passes(self, text):
        status, output = self.run_test(text)
        self.assertEqual(status, 0, output)

    def assert_fails(self, text, *parts):
        status, output = self.run_test(text)
        self.assertEqual(status, 1, output)
        for part in parts:
            self.assertIn(part, output)

    def test_whole_streams(self):
        self.assert_passes("# two runs\nrun echo a  'b c'\nexit 0\nstdout <<EOF\na b c\nEOF\n\n"
                           "run fail\nexit 2\nstderr <<END\nerror: no\nEND\n")

    def test_difference_is_shown(self):
        self.assert_fails("run echo new\nexit 0\nstdout <<EOF\nold\nEOF\n",
                          "some.test:1: assay echo new", "-old", "+new")

    def test_exit_status_must_be_stated_and_right(self):
        self.assert_fails("run echo\nstdout any\n", "exit 0; the test says nothing about it")
        self.assert_fails("run fail\nexit 1\nstderr any\n", "exit 2; the test says 1")

    def test_unchecked_streams_must_be_empty(self):
        self.assert_fails("run fail\nexit 2\n", "stderr is not checked and not empty")
        self.assert_fails("run echo a\nexit 0\n", "stdout is not checked and not empty")

    def test_parts_of_a_stream(self):
        self.assert_passes("run echo abc\nexit 0\nstdout contains bc\nstdout matches ^a.c$\n")
        self.assert_fails("run echo abc\nexit 0\nstdout contains x\n", "does not contain `x`")
        self.assert_fails("run echo abc\nexit 0\nstdout matches ^b\n", "does not match `^b`")

    def test_folder_and_times_are_replaced(self):
        self.assert_passes("run where\nexit 0\nstdout <<EOF\n$DIR took $TIME\nEOF\n")
        self.assert_passes("file x <<EOF\nEOF\nrun echo $DIR/x\nexit 0\nstdout <<EOF\n$DIR/x\nEOF\n")

    def test_standard_input_and_missing_line_end(self):
        self.assert_passes("file in.txt <<EOF\nhello\nEOF\nrun cat\nstdin in.txt\nexit 0\nstdout <<EOF\n"
                           "hello\nend\n\\ no newline at end\nEOF\n")

    def test_json_ignores_layout_and_times(self):
        self.assert_passes('run json\nexit 0\nstdout json <<EOF\n{"a":[1],"timings":0}\nEOF\n')
        self.assert_fails('run json\nexit 0\nstdout json <<EOF\n{"a":[2],"timings":0}\nEOF\n', "-    2", "+    1")

    def test_models_from_text_and_files_after_the_run(self):
        model = '<ir_version: 8, opset_import: ["" : 17]>\ng (float[2] x) => (float[2] y) { y = Relu (x) }\n'
        self.assert_passes(f"file net.txt <<EOF\n{model}EOF\nmake net.onnx from net.txt\nmake two.onnx from net.txt\n"
                           "python <<EOF\nopen('mark', 'w').close()\nEOF\n"
                           "run echo\nexit 0\nstdout any\nsame net.onnx two.onnx\nabsent nothing\n")
        self.assert_fails("file a <<EOF\n1\nEOF\nfile b <<EOF\n2\nEOF\n"
                          "run echo\nexit 0\nstdout any\nsame a b\nabsent a\n",
                          "a b differ", "a exists")

    def test_faults_of_the_test_itself(self):
        self.assert_fails("rum echo\n", "some.test:1: unknown directive `rum`")
        self.assert_fails("run echo\nexit 0\nstdout <<EOF\n", "no line `EOF` ends this text")
        self.assert_fails("exit 0\n", "`exit` belongs to no `run`")
        self.assert_fails("python <<EOF\n1 / 0\nEOF\nrun echo\nexit 0\nstdout any\n", "ZeroDivisionError")

    def test_no_tests_is_a_failure(self):
        self.assert_fails("# nothing\n", "0 runs")

    def test_update_writes_what_was_seen_and_is_stable(self):
        status, output = self.run_test("# note\n\nrun echo a EOF\n\nrun fail\nexit 0\nstderr line error: no\n",
                                       "--update")
        self.assertEqual(status, 0, output)
        expected = "# note\n\nrun echo a EOF\nexit 0\nstdout <<EOF\na EOF\nEOF\n\nrun fail\nexit 2\nstderr line error: no\n"
        self.assertEqual((self.root / "cli/some.test").read_text(), expected)
        self.assert_passes(expected)
        self.assertNotIn("updated", self.run_test(expected, "--update")[1])


if __name__ == "__main__":
    unittest.main()
