#pragma once

#include <filesystem>
#include <memory>

#include "base/files.h"
#include "formats/saved_data.h"

namespace assay::formats {

// A file that is one of many: small ones are copied into memory, so that few stay open.
std::shared_ptr<const MappedFile> open_one_of_many(const std::filesystem::path& path);

// The content of one file. Error (parse).
SavedData read_file(const std::shared_ptr<const MappedFile>& file);

}  // namespace assay::formats
