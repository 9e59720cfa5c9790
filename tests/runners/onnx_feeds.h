#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "exec/backend.h"

namespace assay::cases {

// `<folder>/<word>_0.pb` and so on, as far as they exist.
std::vector<std::filesystem::path> numbered_files(const std::filesystem::path& folder, std::string_view word);
// What a data set of ONNX's own tests feeds a model. Error (usage) if its files do not fit to the inputs.
std::vector<exec::Feed> read_feeds(const ir::Model& model, const std::filesystem::path& folder);

}  // namespace assay::cases
