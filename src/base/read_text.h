#pragma once

#include <filesystem>
#include <string>

namespace assay {

// The text of a whole file. Error (io) if it cannot be read.
std::string read_text(const std::filesystem::path& path);

}  // namespace assay
