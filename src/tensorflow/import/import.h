#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ir/model.h"

namespace assay::tensorflow {

struct ImportOptions {
  std::string signature;  // empty: `serving_default`, the only one, or in TFLite none
  // By the names that outputs have, or values: `name:1`, of TFLite those of tensors; empty: those of the signature, or
  // values that nothing uses.
  std::vector<std::string> outputs;
  bool keeps_values = false;  // values that have a name there are made as they are there, also where nothing reads them
};

// A frozen graph, a SavedModel or a TFLite file as a model of ONNX's operators. Values keep the order of dimensions
// that they have there. Error (parse): the file is damaged; (unsupported): it has what is not imported; (usage): there
// is no such signature or output.
ir::Model import_model(const std::filesystem::path& path, const ImportOptions& options);
// A TFLite file or a frozen graph in memory, likewise.
ir::Model import_tflite(const std::shared_ptr<const MappedFile>& file, const ImportOptions& options);
ir::Model import_graph(const std::shared_ptr<const MappedFile>& file, const ImportOptions& options);

}  // namespace assay::tensorflow
