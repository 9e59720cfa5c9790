// Rewrites models for the interop tests. Each line of standard input is a request, fields separated by tabs:
//   list                                          all passes: the answer is `ok NAME:CLASS NAME:CLASS ...`
//   MODEL FOLDER_WITH_INPUTS OUT_FOLDER PASSES STEPS
// PASSES is `simplify`, `fuse` (these run until nothing changes) or names with commas between; STEPS the last step to
// take, or `-`. Inputs are input_0.pb, input_1.pb, ... The rewritten model becomes OUT_FOLDER/model.onnx. It is
// checked, loaded again and run, beside the model as it was, by the reference: the answer is
//   `ok STEPS AGAIN equal` or `ok STEPS AGAIN differ`
// with the number of steps taken and of those that a second run of the same passes takes. What differs is written as
// before_0.pb and after_0.pb, ... Otherwise the answer is `error CODE: text` or `bug: text`, also where what was
// inferred and kept over a pass is not what is inferred anew.
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>

#include "ir/verify.h"
#include "onnx/export.h"
#include "onnx/value_file.h"
#include "ops/interpreter.h"
#include "passes/pipelines.h"
#include "support/inference_checks.h"
#include "support/loaded_model.h"
#include "support/tool_lines.h"
#include "support/value_bytes.h"

namespace {

using namespace assay;
namespace fs = std::filesystem;

constexpr ops::InterpreterOptions kLimits = {.max_memory_bytes = uint64_t{1} << 30, .max_steps = 10'000};

// What the model's outputs are, as bytes.
std::vector<std::string> run(const ir::Model& model, const fs::path& folder) {
  std::vector<ops::InputDatum> inputs;
  const std::vector<ir::ValueId>& values = model[model.main_graph()].inputs;
  for (size_t i = 0; i < values.size(); ++i) {
    const fs::path path = folder / fmt::format("input_{}.pb", i);
    if (fs::exists(path)) inputs.push_back({values[i], onnx::read_value(path, model.types(), model[values[i]].type)});
  }
  std::vector<ir::ValueId> wanted;
  for (const ir::Use& use : model.outputs(model.main_graph())) wanted.push_back(use.value);
  std::map<ir::ValueId, std::string> found;
  ops::Interpreter interpreter(model, kLimits);
  interpreter.run(inputs, wanted,
                  [&](ir::ValueId value, const ops::Datum& datum) { found[value] = support::value_bytes(datum); });
  std::vector<std::string> outputs;
  for (const ir::ValueId value : wanted) outputs.push_back(found[value]);
  return outputs;
}

std::string output_names(const ir::Model& model) {
  std::string names;
  for (const ir::Use& use : model.outputs(model.main_graph())) {
    names += std::string(model.text(model[use.value].name)) + ' ';
  }
  return names;
}

// After every pass, what was inferred before it and kept must be what is inferred anew.
class Rewriting {
 public:
  Rewriting(ir::Model& model, ir::Rewriter& rewriter)
      : model_(model), kept_(rewriter.edit()), pipeline_(model, rewriter, options_) {
    kept_.now();
  }

  uint64_t run(std::string_view names) {
    if (names == "simplify") return run_until_stable(passes::simplify_passes());
    if (names == "fuse") return run_until_stable(passes::fusion_passes());
    return run(split(names, ','));
  }

 private:
  uint64_t run(passes::PassNames names) {
    uint64_t steps = 0;
    for (const std::string_view name : names) {
      steps += pipeline_.run({&name, 1});
      const std::string fault = testing_support::inference_fault(model_, kept_.now());
      if (!fault.empty()) fail(ErrorCode::shape, "after {}: {}", name, fault);
    }
    return steps;
  }

  uint64_t run_until_stable(passes::PassNames names) {
    uint64_t total = 0;
    while (const uint64_t steps = run(names)) total += steps;
    return total;
  }

  ir::Model& model_;
  ops::LiveInference kept_;
  const passes::Options options_;
  passes::Pipeline pipeline_;
};

void check(const ir::Model& model) {
  ir::check_structure(model);
  Diagnostics findings;
  ir::verify(model, findings);
  for (const Diagnostic& finding : findings.all()) {
    if (finding.severity == Severity::error) fail(ErrorCode::parse, "rewritten: {}", finding.message);
  }
}

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string list_passes() {
  static constexpr std::string_view kClasses[] = {"exact", "rounding", "lossy"};
  std::string reply = "ok";
  for (const Registered<passes::Pass>& entry : passes::registered_passes()) {
    const passes::Pass pass = entry.make();
    reply += fmt::format(" {}:{}", pass.name, kClasses[static_cast<size_t>(pass.pass_class)]);
  }
  return reply;
}

std::string answer(std::string_view request) {
  if (request == "list") return list_passes();
  const std::vector<std::string_view> words = split(request, '\t');
  if (words.size() != 5) fail(ErrorCode::usage, "a request has five fields");
  ir::Model model = testing_support::loaded(words[0]);
  const std::vector<std::string> before = run(model, words[1]);
  const std::string names = output_names(model);
  uint64_t last_step = UINT64_MAX;
  if (words[4] != "-") std::from_chars(words[4].data(), words[4].data() + words[4].size(), last_step);
  ir::Rewriter rewriter(model, last_step);
  Rewriting rewriting(model, rewriter);
  const uint64_t steps = rewriting.run(words[3]);
  check(model);
  const fs::path folder = words[2];
  onnx::save(model, folder / "model.onnx");
  const uint64_t again = rewriting.run(words[3]);
  const ir::Model reloaded = testing_support::loaded(folder / "model.onnx");
  if (output_names(reloaded) != names) fail(ErrorCode::shape, "the outputs are now {}", output_names(reloaded));
  const std::vector<std::string> after = run(reloaded, words[1]);
  bool is_equal = true;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i]) continue;
    is_equal = false;
    write(folder / fmt::format("before_{}.pb", i), before[i]);
    write(folder / fmt::format("after_{}.pb", i), after[i]);
  }
  return fmt::format("ok {} {} {}", steps, again, is_equal ? "equal" : "differ");
}

}  // namespace

int main() { support::serve_lines(answer); }
