#include "engine/devices/cpu/caches.h"

#include <algorithm>

#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::engine::cpu {

uint64_t cache_bytes() {
  constexpr long kUsual = 32L << 20;  // where the system does not say
  const long known = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
  return static_cast<uint64_t>(known > 0 ? known : kUsual);
}

void forget([[maybe_unused]] const std::byte* first, [[maybe_unused]] uint64_t bytes) {
#if defined(__x86_64__)
  constexpr uint64_t kLine = 64;
  for (uint64_t i = 0; i < bytes; i += kLine) _mm_clflush(first + i);
  _mm_mfence();
#endif
}

}  // namespace assay::engine::cpu
