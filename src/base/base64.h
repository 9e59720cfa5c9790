#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/files.h"

namespace assay {

// Bytes that `text` stands for; the text is padded to a multiple of four. Error (parse) for a length that cannot be.
uint64_t base64_decoded_size(std::string_view text);
// Decodes all of it into `out`, which has base64_decoded_size() bytes, in pieces on several threads. Error (parse) for
// any other character.
void base64_decode(std::string_view text, std::span<std::byte> out);
// The first `count` bytes at most.
std::string base64_decode_start(std::string_view text, uint64_t count);

// The text of `bytes`, padded, in place of what `out` held.
void base64_encode(Bytes bytes, std::string& out);
std::string base64_encode(Bytes bytes);

}  // namespace assay
