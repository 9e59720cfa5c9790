#include "engine/devices/cpu/caches.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::engine::cpu {
namespace {

// That of the first processor, as Linux counts it; 0: it does not say.
uint64_t last_cache_kilobytes() {
  uint64_t last = 0;
  for (const char* const index : {"2", "3"}) {
    std::ifstream file(std::string("/sys/devices/system/cpu/cpu0/cache/index") + index + "/size");  // `32768K`
    uint64_t kilobytes = 0;
    if (file >> kilobytes) last = kilobytes;
  }
  return last;
}

}  // namespace

uint64_t first_cache_bytes() {
  const long known = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  return known > 0 ? static_cast<uint64_t>(known) : 0;
}

// glibc adds up the caches of a whole socket, of which a core has one.
uint64_t cache_bytes() {
  constexpr long kUsual = 32L << 20;  // used if nobody says
  if (const uint64_t kilobytes = last_cache_kilobytes(); kilobytes > 0) return kilobytes * 1024;
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
