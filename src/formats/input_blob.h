#pragma once

#include <cstdint>
#include <filesystem>

#include "tensor/named.h"

namespace assay::formats {

// The elements of one tensor as a file of nothing else. Error (usage) for strings.
void write_elements(const std::filesystem::path& path, const tensor::NamedDatum& value);

// Input blobs: `<folder>/<10-digit iteration>/<input>.bin` for each input. Error (usage) for a name
// that would leave the folder, before anything is written.
void save_input_blob(const std::filesystem::path& folder, uint64_t iteration, const tensor::NamedData& inputs);

}  // namespace assay::formats
