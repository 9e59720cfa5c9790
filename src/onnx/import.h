#pragma once

#include <filesystem>

#include "base/diagnostics.h"
#include "ir/model.h"
#include "onnx/document.h"

namespace assay::onnx {

struct ImportOptions {
  std::filesystem::path external_folder;  // folder of external data
  bool ignore_external_data = false;      // weights outside the file stay unread
};

// Resolves the names of a document. Damage of the file (wire format, tensor sizes, external data) throws Error. A graph
// that is wrong in itself is imported as far as it goes (a name defined twice is two values, an undefined one is a
// value of kind undefined) and every fault becomes a finding: whoever needs a whole graph refuses when there are
// errors.
ir::Model import_document(const Document& document, const ImportOptions& options, Diagnostics& findings);

}  // namespace assay::onnx
