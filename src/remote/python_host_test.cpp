#include "remote/python_host.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/remote_values.h"

namespace assay::remote {
namespace {

namespace fs = std::filesystem;
using testing_support::same;
using testing_support::strings;

tensor::Tensor floats(std::vector<float> numbers) {
  const auto size = static_cast<int64_t>(numbers.size());
  return tensor::make_tensor<float>(tensor::DType::float32, {size}, numbers);
}

class PythonHostTest : public testing::Test {
 protected:
  PythonHostTest() {
    char name[] = "/tmp/assay_hostXXXXXX";
    folder_ = mkdtemp(name);
  }
  ~PythonHostTest() override { fs::remove_all(folder_); }

  ScriptFunction script(const std::string& text, std::string function = "f") {
    const fs::path path = folder_ / fmt::format("script{}.py", ++scripts_);
    std::ofstream(path) << "import numpy as np\n" << text;
    return {path.string(), std::move(function)};
  }

  PythonOptions options(double timeout_seconds = 0) {
    return {.search = {.python = ASSAY_PYTHON},
            .timeout_seconds = timeout_seconds,
            .show = [this](std::string_view text) { shown_ += text; }};
  }

  // All iterations of a loader.
  std::vector<tensor::NamedData> load(const ScriptFunction& function) {
    PythonHost host(options());
    const exec::DataSourcePtr source = host.data_loader(function);
    std::vector<tensor::NamedData> all;
    while (std::optional<tensor::NamedData> data = source->get(all.size())) all.push_back(*data);
    EXPECT_FALSE(source->get(all.size() + 1));
    return all;
  }

  std::string error_of(ErrorCode code, const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.line();
      std::string line = error.line();
      for (size_t at = line.find(folder_.string()); at != std::string::npos; at = line.find(folder_.string())) {
        line.erase(at, folder_.string().size() + 1);
      }
      return line;
    }
    return "no error";
  }
  std::string load_error(const std::string& text, ErrorCode code = ErrorCode::usage) {
    return error_of(code, [&] { load(script(text)); });
  }

  fs::path folder_;
  int scripts_ = 0;
  std::string shown_;
};

TEST_F(PythonHostTest, LoadersOfEveryForm) {
  const std::string body = "{'x': np.array([%s], np.float32)}";
  const std::vector<std::string> forms = {
      "def f():\n  return [{'x': np.float32([i])} for i in range(3)]\n",
      "def f():\n  for i in range(3): yield {'x': np.float32([i])}\n",
      "f = tuple({'x': np.float32([i])} for i in range(3))\n",
      "class f:\n  def __call__(self): return iter([{'x': np.float32([i])} for i in range(3)])\n",
      "class f:\n  def __iter__(self): return iter([{'x': np.float32([i])} for i in range(3)])\n",
      "class f:\n  def __getitem__(self, i):\n    if i == 3: raise IndexError\n    return {'x': np.float32([i])}\n",
      "from functools import partial\nf = partial(map, lambda i: {'x': np.float32([i])}, range(3))\n",
  };
  for (const std::string& form : forms) {
    const std::vector<tensor::NamedData> all = load(script(form));
    ASSERT_EQ(all.size(), 3u) << form;
    EXPECT_EQ(all[2][0].name, "x");
    EXPECT_TRUE(same(all[2][0].value, floats({2}))) << form;
  }
}

TEST_F(PythonHostTest, IterationsAreLazyAndKept) {
  PythonHost host(options());
  const exec::DataSourcePtr source =
      host.data_loader(script("def f():\n  yield {'x': np.float32([1])}\n  yield {'x': np.float32([2])}\n  1 / 0\n"));
  EXPECT_TRUE(same((*source->get(1))[0].value, floats({2})));
  EXPECT_TRUE(same((*source->get(0))[0].value, floats({1})));
  EXPECT_EQ(error_of(ErrorCode::usage, [&] { source->get(2); }),
            "the script `script1.py` failed in line 5: ZeroDivisionError: division by zero");
}

TEST_F(PythonHostTest, EveryKindOfValueGoesThereAndBack) {
  PythonHost host(options());
  const tensor::NamedData sent = testing_support::all_kinds();
  const ScriptFunction same_again = script("def f(result): return result\n");
  for (const tensor::NamedDatum& value : sent) {
    tensor::NamedData came;
    try {
      came = host.postprocess(same_again, {"runner", 0.5, {value}});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << value.name;
      EXPECT_TRUE(value.name.starts_with("float") || value.name.find("int") != std::string::npos) << value.name;
      continue;
    }
    ASSERT_EQ(came.size(), 1u);
    EXPECT_EQ(came[0].name, value.name);
    const bool is_wide = value.name == "wide";  // Python knows no declared type
    EXPECT_TRUE(same(came[0].value, is_wide ? tensor::Datum(value.value.tensor()) : value.value)) << value.name;
  }
}

TEST_F(PythonHostTest, ArraysOfEveryLayout) {
  const std::vector<tensor::NamedData> all =
      load(script("class A:\n  def __array__(self, dtype=None, copy=None): return np.float32([7])\n"
                  "def f():\n"
                  "  a = np.arange(6, dtype=np.float32).reshape(2, 3)\n"
                  "  return [{'transposed': a.T, 'big': a[0].astype('>f4'), 'reversed': a[0, ::-1], 'object': A(),\n"
                  "           'list': [1.0, 2.5], 'scalar': 3, 'np': np.float32(4), 'words': ['a', 'bc'],\n"
                  "           'objects': np.array(['x', b'y'], object), 'bytes': np.array([b'ab']), 'zero': "
                  "np.empty((0, 2), 'i1'),\n"
                  "           'sequence': [a[0], a[1]], 'none': None}]\n"));
  ASSERT_EQ(all.size(), 1u);
  const std::vector<float> transposed = {0, 3, 1, 4, 2, 5};
  const std::vector<double> listed = {1.0, 2.5};
  const int64_t three = 3;
  const float four = 4;
  const tensor::NamedData expected = {
      {"transposed", tensor::make_tensor<float>(tensor::DType::float32, {3, 2}, transposed)},
      {"big", floats({0, 1, 2})},
      {"reversed", floats({2, 1, 0})},
      {"object", floats({7})},
      {"list", tensor::make_tensor<double>(tensor::DType::float64, {2}, listed)},
      {"scalar", tensor::make_tensor<int64_t>(tensor::DType::int64, {}, std::span(&three, 1))},
      {"np", tensor::make_tensor<float>(tensor::DType::float32, {}, std::span(&four, 1))},
      {"words", strings({2}, {"a", "bc"})},
      {"objects", strings({2}, {"x", "y"})},
      {"bytes", strings({1}, {"ab"})},
      {"zero", tensor::Tensor(tensor::DType::int8, {0, 2}, tensor::make_owned({}))},
      {"sequence", tensor::Datum::sequence({floats({0, 1, 2}), floats({3, 4, 5})})},
      {"none", tensor::Datum()}};
  ASSERT_EQ(all[0].size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(all[0][i].name, expected[i].name);
    EXPECT_TRUE(same(all[0][i].value, expected[i].value)) << expected[i].name;
  }
}

TEST_F(PythonHostTest, WrongThingsAreNamed) {
  EXPECT_EQ(load_error("def f(): return 5\n"),
            "`f` of the script `script1.py` gave a `int`, expected a list or generator of dicts of arrays by name");
  EXPECT_EQ(load_error("def f(): return [[1]]\n"),
            "iteration 0 of `f` of the script `script2.py` is a `list`, expected a dict of arrays by name");
  EXPECT_EQ(load_error("def f(): return [{1: np.zeros(1)}]\n"),
            "`f` of the script `script3.py`: the name of an array is a `int`, expected a string");
  EXPECT_EQ(load_error("def f(): return [{'x': object()}]\n"),
            "`f` of the script `script4.py`: `x` is a `object`, expected a numpy array");
  EXPECT_EQ(load_error("def f(): return [{'x': np.array([{}, 1], object)}]\n"),
            "`f` of the script `script5.py`: `x` is an array of Python objects (`dict`), expected numbers or strings");
  EXPECT_EQ(load_error("def f(): return [{'x': np.zeros(1, 'M8[s]')}]\n", ErrorCode::unsupported),
            "`f` of the script `script6.py`: `x` is an array of `datetime64[s]`, which ONNX does not have");
  EXPECT_TRUE(load_error("def f(): return [{'x': [[1], [1, 2]]}]\n")
                  .starts_with("`f` of the script `script7.py`: `x` is a `list` that makes no array: ValueError"));
  EXPECT_EQ(load_error("def g(): pass\n"), "the script `script8.py` has no `f`");
  EXPECT_EQ(error_of(ErrorCode::usage, [&] { load({folder_ / "none.py", "f"}); }), "there is no script `none.py`");
}

TEST_F(PythonHostTest, FailuresShowTheirTraceback) {
  const std::string line = load_error("def f():\n  raise ValueError('one\\ntwo')\n");
  EXPECT_EQ(line, "the script `script1.py` failed in line 3: ValueError: one");
  EXPECT_TRUE(shown_.starts_with("Traceback (most recent call last):\n  File \"" + folder_.string())) << shown_;
  EXPECT_NE(shown_.find("script1.py\", line 3, in f\n    raise ValueError"), std::string::npos) << shown_;
  EXPECT_TRUE(shown_.ends_with("ValueError: one\ntwo\n")) << shown_;
  EXPECT_TRUE(load_error("def f(:\n").starts_with("the script `script2.py` failed in line 2: SyntaxError: "));
  EXPECT_EQ(load_error("import sys\nsys.exit(3)\n"), "the script `script3.py` failed in line 3: SystemExit: 3");
  EXPECT_EQ(load_error("import no_such_package\n"),
            "the script `script4.py` failed in line 2: ModuleNotFoundError: No module named 'no_such_package'");
}

TEST_F(PythonHostTest, DeathAndHangAreReported) {
  const std::string label = std::string("the process of `") + ASSAY_PYTHON + "` ";
  EXPECT_EQ(load_error("import os\ndef f(): os.abort()\n", ErrorCode::backend),
            label + "was killed by signal 6 (aborted)");
  EXPECT_EQ(load_error("import os\ndef f():\n  if os.fork() == 0:\n    import time; time.sleep(5)\n  os._exit(4)\n",
                       ErrorCode::backend),
            label + "ended with status 4");
  PythonHost host(options(1));
  const ScriptFunction hanging = script("import time\ndef f(): time.sleep(1000)\n");
  const std::string late = label + "gave no answer within 1 seconds and was ended";
  EXPECT_EQ(error_of(ErrorCode::limit, [&] { host.data_loader(hanging); }), late);
  EXPECT_EQ(error_of(ErrorCode::limit, [&] { host.data_loader(hanging); }), late);
}

TEST_F(PythonHostTest, PrintingDisturbsNothing) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const std::vector<tensor::NamedData> all =
      load(script("import os\nprint('loaded')\ndef f():\n  os.system('echo below')\n  print('x' * 9, end='')\n"
                  "  return [{'x': np.float32([1])}]\n"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "loaded\nbelow\nxxxxxxxxx");
  EXPECT_EQ(all.size(), 1u);
}

TEST_F(PythonHostTest, NeighboursCanBeImported) {
  std::ofstream(folder_ / "neighbour.py") << "WORD = 5\n";
  std::ofstream(folder_ / "struct.py") << "1 / 0\n";
  const std::vector<tensor::NamedData> all =
      load(script("def f():\n  import neighbour\n  return [{'x': np.float32([neighbour.WORD])}]\n"));
  EXPECT_TRUE(same(all[0][0].value, floats({5})));
}

TEST_F(PythonHostTest, Postprocess) {
  PythonHost host(options());
  const ScriptFunction function = script(
      "def f(result):\n  result['y'] += 1\n  result['time'] = np.float32([result.runtime or 0])\n"
      "  result['who'] = np.array(result.runner_name)\n  return result\n"
      "class g:\n  def __call__(self, result): return {'n': result.runtime}\n"
      "def h(result): pass\n");
  const tensor::NamedData data = host.postprocess(function, {"me", 0.5, {{"y", floats({1, 2})}}});
  ASSERT_EQ(data.size(), 3u);
  EXPECT_TRUE(same(data[0].value, floats({2, 3})));
  EXPECT_TRUE(same(data[1].value, floats({0.5})));
  EXPECT_TRUE(same(data[2].value, strings({}, {"me"})));
  EXPECT_TRUE(host.postprocess({function.path, "g"}, {"me", std::nullopt, {}})[0].value.is_none());
  EXPECT_EQ(error_of(ErrorCode::usage,
                     [&] {
                       host.postprocess({function.path, "h"}, {"me", 0.5, {}});
                     }),
            "`h` of the script `script1.py` gave a `NoneType`, expected a dict of outputs by name");
}

TEST_F(PythonHostTest, Compare) {
  PythonHost host(options());
  const ScriptFunction function = script(
      "def f(a, b):\n  return {name: np.all(a[name] == b[name]) for name in a}\n"
      "g = 5\n");
  const IterationResult a = {"a", 0.1, {{"x", floats({1})}, {"y", floats({2})}}};
  const IterationResult b = {"b", 0.1, {{"x", floats({1})}, {"y", floats({3})}}};
  const std::vector<std::pair<std::string, bool>> expected = {{"x", true}, {"y", false}};
  EXPECT_EQ(host.compare(function, a, b), expected);
  EXPECT_EQ(error_of(ErrorCode::usage,
                     [&] {
                       host.compare({function.path, "g"}, a, b);
                     }),
            "`g` of the script `script1.py` is a `int`, expected a function");
}

TEST_F(PythonHostTest, InterpretersThatAreNotThere) {
  PythonHost none({.search = {.python = "/nowhere/python3"}});
  EXPECT_EQ(error_of(ErrorCode::usage,
                     [&] {
                       none.data_loader({"x.py", "f"});
                     }),
            "there is no Python `/nowhere/python3`, which scripts need");
  const fs::path bare = folder_ / "python3";  // without packages
  std::ofstream(bare) << "#!/bin/sh\nexec '" << ASSAY_PYTHON << "' -S \"$@\"\n";
  fs::permissions(bare, fs::perms::owner_all);
  PythonHost without_numpy({.search = {.python = bare.string()}});
  const std::string line = error_of(ErrorCode::usage, [&] { without_numpy.data_loader(script("def f(): pass\n")); });
  EXPECT_TRUE(line.ends_with("has no package numpy, which scripts need (see `--python`)")) << line;
}

TEST(ScriptFunction, Parse) {
  const auto parsed = [](std::string_view text) {
    const ScriptFunction script = parse_script_function(text, "load_data");
    return script.path + "|" + script.function;
  };
  EXPECT_EQ(parsed("a.py"), "a.py|load_data");
  EXPECT_EQ(parsed("a.py:f_1"), "a.py|f_1");
  EXPECT_EQ(parsed("x:y/a.py"), "x:y/a.py|load_data");
  EXPECT_EQ(parsed("x:y/a.py:g"), "x:y/a.py|g");
  for (const std::string_view wrong : {"", ":f", "a.py:"}) {
    EXPECT_THROW(parse_script_function(wrong, "f"), Error) << wrong;
  }
}

}  // namespace
}  // namespace assay::remote
