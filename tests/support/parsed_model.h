#pragma once

#include <string>
#include <string_view>

#include "base/check.h"
#include "ir/model.h"
#include "onnx/text.h"

namespace assay::testing_support {

// A model from ONNX's text syntax, with a header of the newest versions unless the text has one; it must be sound.
inline ir::Model parsed(std::string text) {
  if (text.find("ir_version") == std::string::npos) text = "<ir_version: 10, opset_import: [\"\" : 21]> " + text;
  Diagnostics findings;
  ir::Model model = onnx::parse_text(text, findings);
  ASSAY_CHECK(findings.error_count() == 0);
  return model;
}

// The value of the main graph with this name.
inline ir::ValueId value_named(const ir::Model& model, std::string_view name) {
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    const ir::Value& value = model[ir::ValueId{i}];
    if (value.alive && value.graph == model.main_graph() && model.text(value.name) == name) return ir::ValueId{i};
  }
  check_failed("a value of this name", __FILE__, __LINE__);
}

}  // namespace assay::testing_support
