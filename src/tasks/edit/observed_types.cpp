#include "tasks/edit/observed_types.h"

#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/edit.h"
#include "ir/verify.h"
#include "ops/interpreter.h"

namespace assay::tasks {
namespace {

using ir::ValueId;
using Seen = std::map<ValueId, std::pair<tensor::DType, tensor::Shape>>;

Seen run(LoadedModel& loaded, std::span<const ValueId> values, const InputData& data) {
  const std::vector<ops::InputDatum> inputs = first_inputs(loaded.model, data, loaded.findings);
  ops::Interpreter interpreter(loaded.model, {});
  Seen seen;
  const auto sink = [&](ValueId value, const tensor::Datum& datum) {
    if (datum.is_tensor()) seen[value] = {datum.declared(), datum.tensor().shape()};
  };
  const auto note = [&](ir::NodeId node, const Error& error) {
    const std::string name = ir::describe(loaded.model, node);
    loaded.findings.warn("fallback", name, fmt::format("{} could not be run: {}", name, error.line()), error.remedy());
    return true;
  };
  const ops::FailureSink failures(note);
  interpreter.run(inputs, values, sink, &failures);
  return seen;
}

}  // namespace

void observe_types(LoadedModel& loaded, std::span<const ValueId> values, const InputData& data) {
  loaded.findings.warn("fallback", "", "types and shapes are those of one run: dynamic dims may have become static");
  const Seen seen = run(loaded, values, data);
  ir::Edit edit(loaded.model);
  for (const auto& [value, type] : seen) {
    std::vector<ir::DimId> dims;
    for (const int64_t dim : type.second) dims.push_back(loaded.model.dims().constant(dim));
    edit.set_type(value, loaded.model.types().tensor(type.first, std::move(dims)));
  }
}

}  // namespace assay::tasks
