#pragma once

#include <cstdint>
#include <span>

#include "base/files.h"

namespace assay::formats {

// Inflates raw deflate data that gives exactly out.size() bytes of this CRC-32. Error (parse) if it does not.
void inflate_all(Bytes packed, uint32_t crc, std::span<std::byte> out);
// The first out.size() bytes, unchecked.
void inflate_start(Bytes packed, std::span<std::byte> out);

// CRC-32 of the bytes, continued from `start`, on several threads.
uint32_t crc32_of(Bytes bytes, uint32_t start = 0);

}  // namespace assay::formats
