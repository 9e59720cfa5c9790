#include "analysis/machine_roof.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <immintrin.h>

#include "base/function_ref.h"
#include "base/parallel.h"
#include "base/thread_stopwatch.h"

namespace assay::analysis {
namespace {

constexpr int kChains = 8;  // different sums, so that none waits for another and none is another's
constexpr int kTries = 20;  // the best counts: others may be using the machine

// Each returns the operations of a round; what it computes is given out so that it is not left out.
__attribute__((target("avx512f"))) double spin_512(uint64_t rounds, float& result) {
  const __m512 half = _mm512_set1_ps(0.5F);
  __m512 a = _mm512_set1_ps(result), b = _mm512_add_ps(a, half), c = _mm512_add_ps(b, half), d = _mm512_add_ps(c, half);
  __m512 e = _mm512_add_ps(d, half), f = _mm512_add_ps(e, half), g = _mm512_add_ps(f, half), h = _mm512_add_ps(g, half);
  for (uint64_t i = 0; i < rounds; ++i) {
    a = _mm512_fmadd_ps(a, half, half);
    b = _mm512_fmadd_ps(b, half, half);
    c = _mm512_fmadd_ps(c, half, half);
    d = _mm512_fmadd_ps(d, half, half);
    e = _mm512_fmadd_ps(e, half, half);
    f = _mm512_fmadd_ps(f, half, half);
    g = _mm512_fmadd_ps(g, half, half);
    h = _mm512_fmadd_ps(h, half, half);
  }
  result = _mm512_cvtss_f32(_mm512_add_ps(_mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)),
                                          _mm512_add_ps(_mm512_add_ps(e, f), _mm512_add_ps(g, h))));
  return 2.0 * 16 * kChains;
}

__attribute__((target("avx2,fma"))) double spin_256(uint64_t rounds, float& result) {
  const __m256 half = _mm256_set1_ps(0.5F);
  __m256 a = _mm256_set1_ps(result), b = _mm256_add_ps(a, half), c = _mm256_add_ps(b, half), d = _mm256_add_ps(c, half);
  __m256 e = _mm256_add_ps(d, half), f = _mm256_add_ps(e, half), g = _mm256_add_ps(f, half), h = _mm256_add_ps(g, half);
  for (uint64_t i = 0; i < rounds; ++i) {
    a = _mm256_fmadd_ps(a, half, half);
    b = _mm256_fmadd_ps(b, half, half);
    c = _mm256_fmadd_ps(c, half, half);
    d = _mm256_fmadd_ps(d, half, half);
    e = _mm256_fmadd_ps(e, half, half);
    f = _mm256_fmadd_ps(f, half, half);
    g = _mm256_fmadd_ps(g, half, half);
    h = _mm256_fmadd_ps(h, half, half);
  }
  result = _mm256_cvtss_f32(_mm256_add_ps(_mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d)),
                                          _mm256_add_ps(_mm256_add_ps(e, f), _mm256_add_ps(g, h))));
  return 2.0 * 8 * kChains;
}

double spin_128(uint64_t rounds, float& result) {
  const __m128 half = _mm_set1_ps(0.5F);
  __m128 a = _mm_set1_ps(result), b = _mm_add_ps(a, half), c = _mm_add_ps(b, half), d = _mm_add_ps(c, half);
  __m128 e = _mm_add_ps(d, half), f = _mm_add_ps(e, half), g = _mm_add_ps(f, half), h = _mm_add_ps(g, half);
  for (uint64_t i = 0; i < rounds; ++i) {
    a = _mm_add_ps(_mm_mul_ps(a, half), half);
    b = _mm_add_ps(_mm_mul_ps(b, half), half);
    c = _mm_add_ps(_mm_mul_ps(c, half), half);
    d = _mm_add_ps(_mm_mul_ps(d, half), half);
    e = _mm_add_ps(_mm_mul_ps(e, half), half);
    f = _mm_add_ps(_mm_mul_ps(f, half), half);
    g = _mm_add_ps(_mm_mul_ps(g, half), half);
    h = _mm_add_ps(_mm_mul_ps(h, half), half);
  }
  result = _mm_cvtss_f32(
      _mm_add_ps(_mm_add_ps(_mm_add_ps(a, b), _mm_add_ps(c, d)), _mm_add_ps(_mm_add_ps(e, f), _mm_add_ps(g, h))));
  return 2.0 * 4 * kChains;
}

double spin(uint64_t rounds, float& result) {
  if (__builtin_cpu_supports("avx512f") != 0) return spin_512(rounds, result);
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return spin_256(rounds, result);
  return spin_128(rounds, result);
}

// Seconds that work takes on the threads of the caller's pool.
double seconds_of(FunctionRef<void()> work) {
  if (thread_count() == 1) {
    const ThreadStopwatch watch;
    work();
    return watch.seconds();
  }
  const Stopwatch watch;
  work();
  return watch.seconds();
}

double measure_flops(unsigned threads) {
  constexpr uint64_t kRounds = 400'000;
  std::vector<float> results(threads, 1);
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    std::vector<double> each(threads);
    const double seconds = seconds_of([&] {
      parallel_for(threads, 1, [&](uint64_t begin, uint64_t) { each[begin] = spin(kRounds, results[begin]); });
    });
    best = std::max(best, each[0] * static_cast<double>(kRounds) * threads / seconds);
  }
  return best;
}

double measure_bytes() {
  constexpr uint64_t kBytes = uint64_t{64} << 20;
  constexpr uint64_t kPiece = uint64_t{1} << 20;
  std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes, 2);
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    const double seconds = seconds_of([&] {
      parallel_for(kBytes, kPiece,
                   [&](uint64_t begin, uint64_t end) { std::memcpy(&to[begin], &from[begin], end - begin); });
    });
    best = std::max(best, 2.0 * static_cast<double>(kBytes) / seconds);
  }
  return best;
}

}  // namespace

results::MachineRoof measure_roof() {
  const unsigned threads = thread_count();
  return {.threads = threads, .flops_per_second = measure_flops(threads), .bytes_per_second = measure_bytes()};
}

}  // namespace assay::analysis
