#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::engine::cpu {

// Of the last cache.
uint64_t cache_bytes();

// Takes these bytes out of all caches, on processors that let programs do so.
void forget(const std::byte* first, uint64_t bytes);

}  // namespace assay::engine::cpu
