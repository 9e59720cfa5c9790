#include "engine/lowering/centered_weights.h"

#include <algorithm>

#include "tensor/derived.h"

namespace assay::engine {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr int kLeast = -128;
constexpr int kMost = 127;

struct Extent {
  size_t outer = 1, channels = 1, inner = 1;  // of codes, before, at and behind an axis

  Extent(const tensor::Shape& dims, size_t axis) : channels(static_cast<size_t>(dims[axis])) {
    for (size_t i = 0; i < axis; ++i) outer *= static_cast<size_t>(dims[i]);
    for (size_t i = axis + 1; i < dims.size(); ++i) inner *= static_cast<size_t>(dims[i]);
  }
};

struct Range {
  int least = 255;
  int greatest = -128;
};

template <typename Code>
std::vector<Range> ranges_of(const Tensor& codes, const Extent& extent) {
  std::vector<Range> ranges(extent.channels);
  const auto* code = reinterpret_cast<const Code*>(codes.bytes().data());
  for (size_t i = 0; i < extent.outer; ++i) {
    for (Range& range : ranges) {
      for (size_t k = 0; k < extent.inner; ++k, ++code) {
        range.least = std::min(range.least, int{*code});
        range.greatest = std::max(range.greatest, int{*code});
      }
    }
  }
  return ranges;
}

// The number by which codes in a range are lessened: the zero point, or as near to it as int8 can hold.
int shift_of(const Range& range, int zero) {
  if (range.greatest - zero > kMost) return range.greatest - kMost;
  return range.least - zero < kLeast ? range.least - kLeast : zero;
}

template <typename Code>
void lessen(const Tensor& codes, const Extent& extent, const std::vector<int>& shifts, std::span<std::byte> bytes) {
  const auto* code = reinterpret_cast<const Code*>(codes.bytes().data());
  auto* out = reinterpret_cast<int8_t*>(bytes.data());
  for (size_t i = 0; i < extent.outer; ++i) {
    for (const int shift : shifts) {
      for (size_t k = 0; k < extent.inner; ++k) *out++ = static_cast<int8_t>(int{*code++} - shift);
    }
  }
  codes.storage()->release();  // no longer needed
}

Tensor lessened(const Tensor& codes, const Extent& extent, std::vector<int> shifts) {
  constexpr uint64_t kLargeBytes = 1 << 16;
  const auto fill = [codes, extent, shifts = std::move(shifts)](std::span<std::byte> bytes) {
    const auto of_type = codes.dtype() == DType::int8 ? &lessen<int8_t> : &lessen<uint8_t>;
    of_type(codes, extent, shifts, bytes);
  };
  const uint64_t size = codes.count();
  if (size >= kLargeBytes) return {DType::int8, codes.shape(), tensor::make_derived(size, fill)};
  std::vector<std::byte> bytes(size);
  fill(bytes);
  return {DType::int8, codes.shape(), tensor::make_owned(std::move(bytes))};
}

void merge(std::vector<Range>& ranges) {
  Range all;
  for (const Range& range : ranges) {
    all.least = std::min(all.least, range.least);
    all.greatest = std::max(all.greatest, range.greatest);
  }
  ranges.assign(ranges.size(), all);
}

}  // namespace

std::optional<CenteredWeights> center(const Tensor& codes, const std::vector<double>& zeros, size_t axis,
                                      bool by_axis) {
  const bool is_signed = codes.dtype() == DType::int8;
  if ((!is_signed && codes.dtype() != DType::uint8) || axis >= codes.shape().size() || codes.count() == 0) return {};
  const Extent extent(codes.shape(), axis);
  if (zeros.size() != 1 && zeros.size() != extent.channels) return {};
  std::vector<Range> ranges = is_signed ? ranges_of<int8_t>(codes, extent) : ranges_of<uint8_t>(codes, extent);
  if (zeros.size() == 1 && !by_axis) merge(ranges);
  CenteredWeights made{codes, {}, !is_signed};
  std::vector<int> shifts;
  for (size_t i = 0; i < extent.channels; ++i) {
    const auto zero = static_cast<int>(zeros[zeros.size() == 1 ? 0 : i]);
    shifts.push_back(shift_of(ranges[i], zero));
    made.zeros.push_back(zero - shifts.back());
    made.is_changed |= shifts.back() != 0;
  }
  if (made.is_changed) made.weights = lessened(codes, extent, std::move(shifts));
  if (std::ranges::all_of(made.zeros, [](int zero) { return zero == 0; })) made.zeros.clear();
  if (zeros.size() == 1 && !by_axis && !made.zeros.empty()) made.zeros.resize(1);
  return made;
}

}  // namespace assay::engine
