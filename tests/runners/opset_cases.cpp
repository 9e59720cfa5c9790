// Writes ONNX's own tests in other versions of ai.onnx; runs the reference on what they were and what they became.
//
//   opset_cases FOLDER OUT VERSION...
//
// FOLDER has an index.json; each model goes through the versions in turn and is saved as OUT/<test>.onnx. One line a
// test: `same NAME`, `kept NAME` (nothing was to change), `refused NAME REASON`, `failed NAME REASON` (the reference
// cannot run it as it is), `different NAME WHERE`. The status is 1 if any is different.
#include <cstdio>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/parallel.h"
#include "ir/walk.h"
#include "onnx/export.h"
#include "onnx/load.h"
#include "passes/opset/expansions.h"
#include "passes/opset/opset_options.h"
#include "passes/pipelines.h"
#include "runners/onnx_feeds.h"
#include "runners/onnx_index.h"
#include "runners/run_model.h"
#include "runners/value_compare.h"

namespace {

using namespace assay;
using namespace assay::cases;
namespace fs = std::filesystem;

struct Outcome {
  std::string word;
  std::string reason;
};

using Results = std::vector<std::vector<tensor::Datum>>;  // of each data set

ir::Model load(const fs::path& path) {
  Diagnostics findings;
  ir::Model model = onnx::load(path, {}, findings);
  if (findings.error_count() > 0) fail(ErrorCode::parse, "{}", findings.all()[0].message);
  return model;
}

Results run(const ir::Model& model, const fs::path& folder, size_t data_sets) {
  const exec::BackendPtr backend = exec::find_backend("ref");
  Diagnostics findings;
  const std::unique_ptr<exec::Session> session = backend->prepare(model, {}, findings);
  Results results;
  for (size_t i = 0; i < data_sets; ++i) {
    const fs::path data = folder / fmt::format("test_data_set_{}", i);
    results.push_back(run_once(*session, read_feeds(model, data), output_names(model)));
  }
  return results;
}

std::set<std::string_view> ops_of(const ir::Model& model) {
  std::set<std::string_view> ops;
  for (const ir::NodeId node : ir::live_nodes(model)) ops.insert(model.text(model[node].op));
  return ops;
}

// True if operators were written as several older ones, which round on their way.
bool is_spelled(const ir::Model& before, const ir::Model& after) {
  const std::set<std::string_view> left = ops_of(after);
  return std::ranges::any_of(
      ops_of(before), [&](std::string_view op) { return passes::find_expansion(op) != nullptr && !left.contains(op); });
}

Tolerance tolerance_of(const tensor::Datum& expected, bool is_spelled) {
  constexpr double kSingle = 1e-5, kHalf = 2e-2;
  if (!is_spelled) return {.bits = true};
  const bool is_single = !expected.is_tensor() || tensor::bit_width(expected.tensor().dtype()) >= 32;
  return {.abs = is_single ? kSingle : kHalf, .rel = is_single ? kSingle : kHalf};
}

std::string first_difference(const Results& seen, const Results& expected, bool is_spelled) {
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t k = 0; k < expected[i].size(); ++k) {
      const std::string found = difference(seen[i][k], expected[i][k], tolerance_of(expected[i][k], is_spelled));
      if (!found.empty()) return fmt::format("data set {}, output {}: {}", i, k, found);
    }
  }
  return {};
}

// Empty if it was changed; otherwise why not. Of values in functions no types are known; inlining makes them so.
Outcome change(ir::Model& model, int64_t version, bool is_inlined) {
  ir::Rewriter rewriter(model);
  passes::Options options;
  options.of<passes::OpsetOptions>().version = version;
  passes::Pipeline pipeline(model, rewriter, options);
  constexpr std::string_view kInline[] = {"inline-functions"};
  constexpr std::string_view kPass[] = {"change-opset"};
  if (!model.functions().empty() && is_inlined) pipeline.run(kInline);
  const auto steps = attempt([&] { return pipeline.run(kPass); });
  if (const Error* error = std::get_if<Error>(&steps)) return {"refused", error->line()};
  if (std::get<uint64_t>(steps) > 0) return {};
  if (pipeline.skipped().empty()) return {"kept", ""};
  return {"refused", pipeline.skipped()[0].reason};
}

Outcome run_test(const OnnxTest& test, const fs::path& folder, const fs::path& out, std::span<const int64_t> versions) {
  const ir::Model before = load(folder / test.folder / "model.onnx");
  Results expected;
  const std::string failure = failure_of([&] { expected = run(before, folder / test.folder, test.data_sets); });
  if (!failure.empty()) return {"failed", failure};
  ir::Model model = load(folder / test.folder / "model.onnx");
  const fs::path file = out / (test.name + ".onnx");
  bool is_changed = false;
  for (const int64_t version : versions) {
    Outcome outcome = change(model, version, false);
    if (outcome.word == "refused" && !model.functions().empty()) outcome = change(model, version, true);
    if (outcome.word == "refused") return outcome;
    is_changed = is_changed || outcome.word.empty();
  }
  onnx::save(model, file);
  if (!is_changed) return {"kept", ""};
  const Results seen = run(load(file), folder / test.folder, test.data_sets);
  const std::string found = first_difference(seen, expected, is_spelled(before, model));
  return {found.empty() ? "same" : "different", found};
}

int run_all(const fs::path& folder, const fs::path& out, std::span<const int64_t> versions) {
  bool is_right = true;
  fs::create_directories(out);
  for (const OnnxTest& test : read_onnx_index(folder / "index.json")) {
    if (test.kind == "light") continue;
    Outcome outcome;
    const std::string failure = failure_of([&] { outcome = run_test(test, folder, out, versions); });
    if (!failure.empty()) outcome = {"different", failure};
    is_right = is_right && outcome.word != "different";
    fmt::print("{} {} {}\n", outcome.word, test.name, outcome.reason);
  }
  return is_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int64_t> versions;
  for (int i = 3; i < argc; ++i) versions.push_back(std::atoll(argv[i]));
  if (versions.empty()) {
    fmt::print(stderr, "opset_cases: expected FOLDER OUT VERSION...\n");
    return kExitUsage;
  }
  set_thread_count(1);  // the models are small
  try {
    return run_all(argv[1], argv[2], versions);
  } catch (const Error& error) {
    fmt::print(stderr, "opset_cases: {}\n", error.line());
    return kExitUsage;
  }
}
