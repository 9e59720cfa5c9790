#include <fmt/format.h>

#include "base/text.h"
#include "lint/check.h"

namespace assay::lint {
namespace {

// A tensor without an element type, wherever it stands in the type.
bool lacks_dtype(const ir::Model& model, ir::TypeId id) {
  for (; id.valid(); id = model[id].element) {
    const ir::Type& type = model[id];
    const bool is_tensor = type.kind == ir::TypeKind::tensor || type.kind == ir::TypeKind::sparse_tensor;
    if (is_tensor && type.dtype == tensor::DType::undefined) return true;
  }
  return false;
}

void report_interface(const Subject& subject, std::string_view what, ir::ValueId value, Findings& findings) {
  const ir::Model& model = subject.model;
  const std::string name = printable(model.text(model[value].name));
  const ir::TypeId type = model[value].type;
  if (!type.valid() || lacks_dtype(model, type)) {
    findings.add(LintLevel::exception, kChecker, "untyped_interface",
                 fmt::format("{} `{}` has no {}", what, name, type.valid() ? "element type" : "type"));
  } else if (model[type].kind == ir::TypeKind::tensor && !model[type].ranked) {
    findings.add(LintLevel::warning, kChecker, "unranked_interface",
                 fmt::format("{} `{}` has no shape, not even a rank: onnx.checker refuses that", what, name));
  }
}

// Looks at the main graph: bodies may leave types out.
void look_at_interface(const Subject& subject, Findings& findings) {
  const ir::GraphId main = subject.model.main_graph();
  for (const ir::ValueId input : subject.model[main].inputs) report_interface(subject, "input", input, findings);
  for (const ir::Use& use : subject.model.outputs(main)) {
    if (use.value.valid()) report_interface(subject, "output", use.value, findings);
  }
}

}  // namespace

Check check_interface() {
  return {"inputs and outputs of the model without type or shape", 6, {{.at_model = look_at_interface}}};
}

}  // namespace assay::lint
