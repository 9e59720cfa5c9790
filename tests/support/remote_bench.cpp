// What isolation costs: `remote_bench ASSAY PYTHON BACKEND` prints seconds, the best of some runs, of starting a worker
// and a Python, and of sending 100 MB there and back beside the same run in this process.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include "remote/isolated_backend.h"
#include "remote/python_host.h"
#include "support/parsed_model.h"

namespace {

using namespace assay;

constexpr int64_t kElements = 25'000'000;

double best_seconds(int runs, const std::function<void()>& work) {
  double best = 1e9;
  for (int run = 0; run < runs; ++run) {
    const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

class Ignoring final : public exec::TensorSink {
 public:
  void accept(std::string_view, const tensor::Datum&) override {}
};

void measure_backend(const exec::Backend& backend, std::string_view label) {
  const ir::Model model = testing_support::parsed("g (float[N] x) => (float[N] y) { y = Neg(x) }");
  Diagnostics findings;
  const double start = best_seconds(5, [&] { backend.prepare(model, {}, findings); });
  const std::unique_ptr<exec::Session> session = backend.prepare(model, {}, findings);
  const std::vector<float> numbers(kElements, 1.0F);
  const std::vector<exec::Feed> feeds = {
      {"x", tensor::make_tensor<float>(tensor::DType::float32, {kElements}, numbers)}};
  const std::vector<std::string> names = {"y"};
  Ignoring sink;
  const std::unique_ptr<exec::Execution> execution = session->make_execution({});
  const double run = best_seconds(7, [&] { execution->run(feeds, names, sink); });
  std::printf("%-12s prepare %.4f s, 100 MB there and back %.4f s\n", std::string(label).c_str(), start, run);
}

void measure_python(const std::string& python, const std::string& script) {
  std::FILE* file = std::fopen(script.c_str(), "w");
  std::fputs("import numpy\ndef f(result): return result\n", file);
  std::fclose(file);
  const remote::ScriptFunction function = {script, "f"};
  const double start = best_seconds(3, [&] {
    remote::PythonHost host({.search = {.python = python}});
    host.postprocess(function, {});
  });
  remote::PythonHost host({.search = {.python = python}});
  const std::vector<float> numbers(kElements, 1.0F);
  const remote::IterationResult result = {
      "", 0.0, {{"x", tensor::make_tensor<float>(tensor::DType::float32, {kElements}, numbers)}}};
  const double run = best_seconds(7, [&] { host.postprocess(function, result); });
  std::printf("%-12s start and end %.4f s, 100 MB there and back %.4f s\n", "python", start, run);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const exec::BackendPtr here = exec::find_backend(argv[3]);
  const exec::BackendPtr isolated = remote::isolated_backend({argv[3], 0, argv[1]});
  measure_backend(*here, "in process");
  measure_backend(*isolated, "isolated");
  measure_python(argv[2], "/tmp/assay_remote_bench.py");
}
