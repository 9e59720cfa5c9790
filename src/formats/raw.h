#pragma once

#include <filesystem>

#include "formats/saved_data.h"

namespace assay::formats {

// A folder of raw arrays: manifest.json, and for each array one .bin with its elements and nothing else.
//
//   {"format": "assay/raw/1", "iterations": 1,
//    "arrays": [{"name": "x", "iteration": 0, "dtype": "float32", "shape": [1, 3], "file": "0000000000_0000.bin"}]}
inline constexpr const char* kRawManifest = "manifest.json";

SavedInputs read_raw(const std::filesystem::path& folder);
// Error (usage) if the folder holds anything already, and for strings.
void write_raw(const std::filesystem::path& folder, const SavedInputs& inputs);

}  // namespace assay::formats
