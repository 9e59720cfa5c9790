// Reductions of [outer, kReduced, kInner]: where the inner dim is 1, a block a result; otherwise a block 32 results, of
// which each warp has a part of the elements. `element` gives the element at a place.
#define SUM 0
#define MEAN 1
#define SQUARE 2
#define LENGTH 3
#define MAXIMUM 4
DEVICE float begun() { return kKind == MAXIMUM ? -kInfinity : 0.0f; }
DEVICE float joined(float sum, float x) {
  return kKind == MAXIMUM ? larger(sum, x) : kKind == SQUARE || kKind == LENGTH ? sum + x * x : sum + x;
}
DEVICE float ended(float sum, int count) {
  return kKind == MEAN ? sum / (float)count : kKind == LENGTH ? sqrtf(sum) : sum;
}
KERNEL(kThreads) {
  if (kIsRow) {
    float sum = begun();
    for (int i = (int)thread_index(); i < kReduced; i += kThreads) {
      sum = joined(sum, element(p, block_x() * (uint32)kReduced + (uint32)i));
    }
    sum = kKind == MAXIMUM ? block_largest(sum) : block_sum(sum);
    if (thread_index() == 0) kOut[block_x()] = Narrow<Out>::of(ended(sum, kReduced));
    return;
  }
  SHARED float parts[kThreads];
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32;
  const uint32 result = block_x() * 32 + (uint32)lane;
  const bool is_there = result < (uint32)kResults;
  float sum = begun();
  if (is_there) {
    const uint32 outer = quotient(result, kInner);
    const uint32 first = outer * (uint32)kReduced * kInner.divisor + (result - outer * kInner.divisor);
#pragma unroll 4
    for (int i = warp; i < kReduced; i += kThreads / 32) {
      sum = joined(sum, element(p, first + (uint32)i * kInner.divisor));
    }
  }
  parts[thread_index()] = sum;
  meet();
  if (!is_there || warp != 0) return;
  for (int part = 1; part < kThreads / 32; ++part) {
    const float more = parts[part * 32 + lane];
    sum = kKind == MAXIMUM ? larger(sum, more) : sum + more;
  }
  kOut[result] = Narrow<Out>::of(ended(sum, kReduced));
}
