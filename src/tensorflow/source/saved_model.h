#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tensorflow/source/model.h"

namespace assay::tensorflow {

// The model in the folder of a SavedModel, with its variables. Inputs and outputs are those of a signature, or the
// outputs those that are named.
SourceModel read_saved_model_source(const std::filesystem::path& folder, const std::string& signature,
                                    const std::vector<std::string>& outputs);

}  // namespace assay::tensorflow
