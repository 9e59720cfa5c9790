#pragma once

#include <cstdint>

namespace assay {

// Bytes of memory that the machine has.
uint64_t machine_memory_bytes();

}  // namespace assay
