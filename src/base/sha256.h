#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace assay {

using Digest = std::array<uint8_t, 32>;

Digest sha256(std::string_view text);
// HMAC: a digest that only those who have the key can make.
Digest keyed_sha256(std::string_view key, std::string_view text);

}  // namespace assay
