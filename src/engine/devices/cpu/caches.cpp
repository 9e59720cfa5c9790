#include "engine/devices/cpu/caches.h"

#include <algorithm>
#include <cstring>

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

#if defined(__x86_64__)
void copy_past_caches(const void* from, void* to, size_t bytes) {
  constexpr size_t kLine = 64;
  constexpr size_t kWord = sizeof(__m128i);
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  const size_t head = std::min(bytes, (kLine - reinterpret_cast<uintptr_t>(target) % kLine) % kLine);
  std::memcpy(target, source, head);
  for (source += head, target += head, bytes -= head; bytes >= kLine;
       source += kLine, target += kLine, bytes -= kLine) {
    for (size_t i = 0; i < kLine; i += kWord) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i)));
    }
  }
  std::memcpy(target, source, bytes);
}

void settle_stores() { _mm_sfence(); }
#else
void copy_past_caches(const void* from, void* to, size_t bytes) { std::memcpy(to, from, bytes); }

void settle_stores() {}
#endif

}  // namespace assay::engine::cpu
