// Arbitrary bytes, imported as a model or, where they begin with `<`, parsed as one, and treated as commands treat a
// model: checked by lint, listed with shapes, run on made-up inputs, all within small limits. Only Error may come out.
#include "base/error.h"
#include "exec/generated_inputs.h"
#include "lint/lint.h"
#include "onnx/known_operators.h"
#include "ops/inference.h"
#include "ops/interpreter.h"
#include "support/fuzzing.h"

namespace {

using namespace assay;
using namespace testing_support;

constexpr ops::InterpreterOptions kLimits = {
    .max_memory_bytes = uint64_t{64} << 20, .max_steps = 1000, .max_work = 10'000'000};

std::vector<ops::InputDatum> make_inputs(const ir::Model& model) {
  Diagnostics notes;
  exec::GenerateOptions options;
  options.max_bytes = uint64_t{1} << 20;
  std::vector<ops::InputDatum> inputs;
  for (exec::Feed& feed : exec::generate_inputs(exec::signature_of(model), options, notes)) {
    for (const ir::ValueId input : model[model.main_graph()].inputs) {
      if (model.text(model[input].name) == feed.name) inputs.push_back({input, feed.value});
    }
  }
  return inputs;
}

template <typename Fn>
void try_out(Fn&& fn) {
  try {
    fn();
  } catch (const Error&) {
  }
}

void run(const ir::Model& model, std::span<const ops::InputDatum> inputs) {
  std::vector<ir::ValueId> wanted;
  for (const ir::Use& use : model.outputs(model.main_graph())) wanted.push_back(use.value);
  ops::Interpreter interpreter(model, kLimits);
  interpreter.run(inputs, wanted, [](ir::ValueId, const tensor::Datum&) {});
}

void treat(Bytes bytes) {
  Diagnostics findings;
  ir::Model model = model_of(bytes, findings);
  onnx::check_operators(model, findings);
  std::optional<std::vector<ops::InputDatum>> inputs;
  try_out([&] { inputs = make_inputs(model); });
  std::optional<lint::RunInputs> of_lint;
  if (inputs) of_lint = {.data = *inputs};
  try_out([&] { lint::lint_model(model, findings, of_lint, kLimits); });
  if (inputs && findings.error_count() == 0) try_out([&] { run(model, *inputs); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try_out([&] { treat(std::as_bytes(std::span(data, size))); });
  return 0;
}
