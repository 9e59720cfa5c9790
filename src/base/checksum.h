#pragma once

#include <cstdint>

#include "base/files.h"

namespace assay {

// Finds damage, not forgery: CRC-32C of every eighth word, eight times, mixed. Runs at the speed of memory.
uint64_t checksum(Bytes bytes);
// The same without the processor's help.
uint64_t portable_checksum(Bytes bytes);

}  // namespace assay
