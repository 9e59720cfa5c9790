#pragma once

#include <optional>
#include <string>

#include "base/files.h"

namespace assay {

// What a file is that somebody takes for another, told by its first bytes, and what helps: `it is a pointer of Git LFS,
// …`. nullopt: it looks like nothing known. Only for files that could not be read.
std::optional<std::string> describe_file_kind(Bytes bytes);

}  // namespace assay
