#pragma once

#include <string>

namespace assay::tasks {

// The digest of a model's file and of the files of its external data, as far as these can be told. Error (io) for a
// file that cannot be read.
std::string model_digest(const std::string& path);

}  // namespace assay::tasks
