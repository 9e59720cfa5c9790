#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace assay {

// The digest by which pages name the scripts that may run.
std::array<uint8_t, 32> sha256(std::string_view text);

}  // namespace assay
