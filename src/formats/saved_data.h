#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tensor/named.h"

namespace assay::formats {

// Saved inputs: one set per iteration.
using SavedInputs = std::vector<tensor::NamedData>;

// One iteration of one runner.
struct SavedIteration {
  tensor::NamedData outputs;
  std::optional<double> runtime_seconds;
  std::string runner;
};

// Saved outputs; two runs may have the same name.
struct SavedRun {
  std::string runner;
  std::vector<SavedIteration> iterations;
};
using SavedRuns = std::vector<SavedRun>;

// The content of a file of tensors. The elements stay in the file (as base64 in JSON) until they are accessed.
using SavedData = std::variant<SavedInputs, SavedRuns>;

// Loads a file of tensors by its content and name: the peer's JSON, .npz, .npy, .safetensors, a folder of one JSON file
// an iteration, or a folder of raw arrays with manifest.json. Files other than JSON hold one set of inputs.
// Error (io, parse) with the path as frame.
SavedData load_data(const std::filesystem::path& path);
// True if the file (by its first bytes) or the folder contains tensors.
bool is_data(const std::filesystem::path& path);
// Loads inputs: results are refused with a hint to `data to-input`.
SavedInputs load_inputs(const std::filesystem::path& path);
// Loads results: one set of arrays becomes the run of a runner named after the file.
SavedRuns load_results(const std::filesystem::path& path);

// Error (usage) if the form that the name implies cannot hold so many runs of so many iterations.
void check_room(const std::filesystem::path& path, size_t runs, size_t iterations);

// Saves in the form that the name's extension implies: .npz, .npy, .safetensors, a path that ends in `/`, names a
// folder, or has no extension (one JSON file an iteration), `.raw` (a folder of raw arrays with manifest.json); any
// other extension: JSON. Error (usage) for what a form cannot hold, as several iterations in an .npy.
void save_inputs(const std::filesystem::path& path, const SavedInputs& inputs);
void save_results(const std::filesystem::path& path, const SavedRuns& runs);

}  // namespace assay::formats
