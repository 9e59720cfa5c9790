// Cast between float16 and float32, where the processor has instructions for it.
#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"

namespace assay::engine::cpu {
namespace {

#if defined(__x86_64__)
constexpr uint64_t kGrain = 1 << 15;  // elements
constexpr uint64_t kAtOnce = 8;

[[gnu::target("avx,f16c")]] void widen_group(const uint16_t* from, float* to) {
  _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
[[gnu::target("avx,f16c")]] void narrow_group(const float* from, uint16_t* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
}

// The last group is brought to its whole size beside the others.
template <auto kGroup, typename From, typename To>
void cast_all(const From* from, To* to, uint64_t count) {
  uint64_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) kGroup(from + i, to + i);
  From rest[kAtOnce] = {};
  To made[kAtOnce];
  std::copy(from + i, from + count, rest);
  kGroup(rest, made);
  std::copy_n(made, count - i, to + i);
}

bool has_instructions() { return __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c"); }

class HalfCastKernel final : public PlainKernel {
 public:
  HalfCastKernel(uint64_t count, bool widens) : count_(count), widens_(widens) {}
  void run(const Arguments& arguments) const override {
    parallel_for(count_, kGrain, [&](uint64_t begin, uint64_t end) {
      if (widens_)
        cast_all<widen_group>(host<const uint16_t>(arguments.inputs[0]) + begin,
                              host<float>(arguments.outputs[0]) + begin, end - begin);
      else
        cast_all<narrow_group>(host<const float>(arguments.inputs[0]) + begin,
                               host<uint16_t>(arguments.outputs[0]) + begin, end - begin);
    });
  }

 private:
  uint64_t count_;
  bool widens_;
};

class HalfCast final : public Implementation {
 public:
  std::string_view name() const override { return "cast.half"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || !layer.starts_with("Cast") || !has_instructions()) return {};
    const TensorDesc& in = layer.inputs[0];
    const TensorDesc& out = layer.outputs[0];
    const bool widens = in.dtype == tensor::DType::float16 && out.dtype == tensor::DType::float32;
    const bool narrows = in.dtype == tensor::DType::float32 && out.dtype == tensor::DType::float16;
    if ((!widens && !narrows) || !is_dense(in) || in.strides != out.strides || in.count() == 0) return {};
    return std::make_unique<HalfCastKernel>(static_cast<uint64_t>(in.count()), widens);
  }
};
#endif

Implementations make_all(const Libraries&) {
  Implementations all;
#if defined(__x86_64__)
  all.push_back(std::make_unique<HalfCast>());
#endif
  return all;
}

}  // namespace

KernelFamily cpu_kernel_half_casts() { return {make_all}; }

}  // namespace assay::engine::cpu
