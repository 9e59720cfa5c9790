#pragma once

#include <filesystem>

#include "base/error.h"
#include "onnx/load.h"

namespace assay::testing_support {

// A model that must be sound: Error (parse) with the first finding that is an error.
inline ir::Model loaded(const std::filesystem::path& path) {
  Diagnostics findings;
  ir::Model model = onnx::load(path, {}, findings);
  for (const Diagnostic& finding : findings.all()) {
    if (finding.severity == Severity::error) fail(ErrorCode::parse, "{}: {}", finding.node, finding.message);
  }
  return model;
}

}  // namespace assay::testing_support
