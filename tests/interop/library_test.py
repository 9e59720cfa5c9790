"""The installed C++ library as a stranger uses it: found by CMake and by pkg-config, with no other header or symbol, and
every block of docs/cpp.md compiled and run."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import onnx
from onnx import TensorProto, helper, numpy_helper
import numpy as np

BUILD = pathlib.Path(os.environ["ASSAY"]).parent.parent
ROOT = pathlib.Path(__file__).parents[2]

CMAKE = """cmake_minimum_required(VERSION 3.20)
project(consumer CXX)
find_package(assay REQUIRED)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE assay::assay)
"""

INCLUDES = ("chrono", "iostream", "string_view", "vector")


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words[0]} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def program_of_docs() -> str:
    """All C++ blocks in a row, as the body of main; classes of blocks become local ones."""
    blocks = re.findall(r"```cpp\n(.*?)```", (ROOT / "docs/cpp.md").read_text(), re.DOTALL)
    assert len(blocks) >= 5
    includes = "".join(f"#include <{name}>\n" for name in INCLUDES)
    return f"{includes}#include <assay/assay.h>\nint main() {{\n" + "".join(blocks) + "}\n"


def save_plugin(folder: pathlib.Path):
    """The pattern that the docs show, where they say that it is."""
    place, text = re.search(r"as `(plugins/\w+/pattern.yaml)`:\n\n```yaml\n(.*?)```", (ROOT / "docs/cpp.md").read_text(),
                            re.DOTALL).groups()
    (folder / place).parent.mkdir(parents=True)
    (folder / place).write_text(text)


def save_model(path: pathlib.Path):
    weight = numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(4, 3), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Identity", ["h"], ["i"]),
             helper.make_node("Relu", ["i"], ["y"])]
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4]),
             helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])]
    graph = helper.make_graph(nodes, "net", infos[:1], infos[1:], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


class LibraryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.holder.name)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.libraries = next(cls.prefix.glob("lib/**/libassay.so")).parent
        (cls.folder / "main.cpp").write_text(program_of_docs())
        (cls.folder / "CMakeLists.txt").write_text(CMAKE)

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def check_run(self, program):
        """The program of the docs gives what its lines say, and models that others read."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            save_model(folder / "model.onnx")
            save_plugin(folder)
            out = run(program, cwd=folder, env={**os.environ, "LD_LIBRARY_PATH": str(self.libraries)})
            self.assertEqual(out.splitlines()[:4], ["x: float32", "MatMul", "Identity", "Relu"])
            self.assertIn("y: 9", out)  # 0.5 * (0 + 3 + 6 + 9)
            self.assertEqual([node.op_type for node in onnx.load(folder / "part.onnx").graph.node], ["MatMul"])
            for line in "image has 8 elements", "same data", "activated fits 1 times", "DistCollective":
                self.assertIn(line, out.splitlines())
            self.assertEqual([node.op_type for node in onnx.load(folder / "plugged.onnx").graph.node],
                             ["MatMul", "Activated"])
            np.testing.assert_array_equal(np.load(folder / "inputs.npz")["x"], np.full((2, 4), 0.5, np.float32))
            half = onnx.load(folder / "half.onnx")
            onnx.checker.check_model(half, full_check=True)
            self.assertEqual(half.graph.initializer[0].data_type, TensorProto.FLOAT16)

    def test_cmake_finds_it(self):
        build = self.folder / "build"
        run("cmake", "-S", self.folder, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.check_run(build / "consumer")

    def test_the_manual_and_completions_are_there(self):
        share = self.prefix / "share"
        self.assertEqual((share / "man/man1/assay.1").read_text(), run(os.environ["ASSAY"], "docs", "man"))
        for place, shell in (("bash-completion/completions/assay", "bash"), ("zsh/site-functions/_assay", "zsh"),
                             ("fish/vendor_completions.d/assay.fish", "fish")):
            self.assertEqual((share / place).read_text(), run(os.environ["ASSAY"], "completion", shell))

    def test_pkg_config_finds_it(self):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.libraries / "pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", "assay", env=environment).split()
        program = self.folder / "plain"
        run("c++", self.folder / "main.cpp", "-o", program, *flags)
        self.check_run(program)

    def test_headers_stand_alone(self):
        for header in sorted((self.prefix / "include/assay").iterdir()):
            includes = re.findall(r"#include [<\"](.*?)[>\"]", header.read_text())
            for name in includes:
                self.assertRegex(name, r"^(assay/\w+\.h|\w+)$", header.name)

    def test_only_the_interface_is_exported(self):
        symbols = run("nm", "-DC", "--defined-only", self.libraries / "libassay.so").splitlines()
        names = {line.split(maxsplit=2)[2] for line in symbols}
        self.assertTrue(any(name.startswith("assay::Model::load(") for name in names))
        allowed = re.compile(r"(typeinfo (name )?for |vtable for )?assay::(Error|Model|Tensor|available_backends|"
                             r"compare_(data|outputs)|(convert|load|save)_data|list_plugins|cli::run_program)\b")
        self.assertEqual([name for name in sorted(names) if not allowed.match(name)], [])

    def test_the_installed_program_runs(self):
        self.assertRegex(run(self.prefix / "bin/assay", "--version"), r"^assay \d")

    def test_isolated_backends_find_their_program(self):
        source = self.folder / "isolated.cpp"
        source.write_text("""#include <assay/assay.h>
int main() {
  const assay::Model model = assay::Model::from_text(
      "<ir_version: 8, opset_import: [\\"\\" : 17]> g (float[3] x) => (float[3] y) { y = Relu(x) }");
  const assay::RunReport report = model.run({.backends = {"ref", "ref"}, .isolate = true});
  return report.verdict == assay::Verdict::equal && report.comparisons.size() == 1 ? 0 : 1;
}
""")
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.libraries / "pkgconfig"),
                       "LD_LIBRARY_PATH": str(self.libraries)}
        flags = run("pkg-config", "--cflags", "--libs", "assay", env=environment).split()
        run("c++", source, "-o", self.folder / "isolated", *flags)
        run(self.folder / "isolated", env=environment)


if __name__ == "__main__":
    unittest.main()
