#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::engine::cpu {

// Bytes of the first cache, of data; 0: nobody says.
uint64_t first_cache_bytes();
// Bytes of the last cache.
uint64_t cache_bytes();

// Takes these bytes out of all caches, on processors that let programs do so.
void forget(const std::byte* first, uint64_t bytes);

// Copies what is not read again soon, on processors that let programs do so without taking it into caches. Other
// threads see it after settle_stores().
void copy_past_caches(const void* from, void* to, size_t bytes);
void settle_stores();

}  // namespace assay::engine::cpu
