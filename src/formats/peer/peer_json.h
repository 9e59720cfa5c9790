#pragma once

#include <filesystem>
#include <memory>

#include "base/files.h"
#include "formats/saved_data.h"

namespace assay::formats {

// The peer's JSON files: inputs (a list of objects, name -> array; or one such object) and results (RunResults). Files
// are written with exactly the bytes that the peer writes; types that NumPy lacks are raw bits with assay_dtype next to
// them.
SavedData read_peer_json(const std::shared_ptr<const MappedFile>& file);
void write_peer_inputs(const std::filesystem::path& path, const SavedInputs& inputs);
// One object instead of a list, as each file of a folder of iterations is.
void write_peer_iteration(const std::filesystem::path& path, const tensor::NamedData& inputs);
void write_peer_results(const std::filesystem::path& path, const SavedRuns& runs);

}  // namespace assay::formats
