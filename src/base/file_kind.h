#pragma once

#include <optional>
#include <string>

#include "base/files.h"

namespace assay {

// Describes a file that was taken for another kind, by its first bytes, with a remedy: `it is a pointer of Git LFS, …`.
// Returns nullopt for a kind that is not known. Only for files that could not be read.
std::optional<std::string> describe_file_kind(Bytes bytes);

}  // namespace assay
