#include "ops/kernels/movement/movement.h"

#include <algorithm>
#include <type_traits>

#include "base/check.h"
#include "base/parallel.h"
#include "ops/kernels/elements/broadcast.h"
#include "tensor/casts.h"

namespace assay::ops {
namespace {

using tensor::DType;
using tensor::DTypeKind;

uint64_t width_of(DType dtype) {
  if (tensor::kind(dtype) == DTypeKind::string) return 0;
  return std::max<uint64_t>(tensor::bit_width(dtype) / 8, 1);
}

bool is_packed(DType dtype) { return tensor::kind(dtype) != DTypeKind::string && tensor::bit_width(dtype) < 8; }

// Types narrower than a byte are handled as the unsigned integers of their bits, one a byte.
std::vector<std::byte> unpack(const tensor::Tensor& tensor) {
  const uint32_t bits = tensor::bit_width(tensor.dtype());
  const tensor::Bytes packed = tensor.bytes();
  std::vector<std::byte> bytes(tensor.count());
  for (uint64_t i = 0; i < bytes.size(); ++i) {
    const uint64_t bit = i * bits;
    unsigned value = std::to_integer<unsigned>(packed[bit / 8]) >> (bit % 8);
    if (bit % 8 + bits > 8) value |= std::to_integer<unsigned>(packed[bit / 8 + 1]) << (8 - bit % 8);
    bytes[i] = static_cast<std::byte>(value & ((1U << bits) - 1));
  }
  return bytes;
}

std::vector<std::byte> pack(DType dtype, const std::vector<std::byte>& bytes) {
  const uint32_t bits = tensor::bit_width(dtype);
  std::vector<std::byte> packed(tensor::packed_bytes(dtype, bytes.size()).value());
  for (uint64_t i = 0; i < bytes.size(); ++i) {
    const uint64_t bit = i * bits;
    const unsigned value = std::to_integer<unsigned>(bytes[i]) << (bit % 8);
    packed[bit / 8] |= static_cast<std::byte>(value & 0xFF);
    if (bit % 8 + bits > 8) packed[bit / 8 + 1] |= static_cast<std::byte>(value >> 8);
  }
  return packed;
}

// Calls fn with the number of bytes of an element, as a constant where it is a usual one.
template <typename Fn>
void with_width(uint64_t width, Fn&& fn) {
  switch (width) {
    case 1:
      return fn(std::integral_constant<uint64_t, 1>());
    case 2:
      return fn(std::integral_constant<uint64_t, 2>());
    case 4:
      return fn(std::integral_constant<uint64_t, 4>());
    case 8:
      return fn(std::integral_constant<uint64_t, 8>());
    default:
      return fn(width);
  }
}

}  // namespace

MoveFrom::MoveFrom(const tensor::Tensor& tensor) : width_(width_of(tensor.dtype())), keep_(tensor) {
  if (width_ == 0) {
    strings_ = tensor.strings();
  } else if (is_packed(tensor.dtype())) {
    unpacked_ = unpack(tensor);
    bytes_ = unpacked_;
  } else {
    bytes_ = tensor.bytes();
  }
}

MoveTo::MoveTo(DType dtype, tensor::Shape shape) : dtype_(dtype), shape_(std::move(shape)), width_(width_of(dtype)) {
  const uint64_t count = tensor::element_count(shape_).value();
  if (width_ == 0) {
    strings_.resize(count);
  } else {
    bytes_.resize(count * width_);
  }
}

MoveTo::MoveTo(const tensor::Tensor& start) : MoveTo(start.dtype(), start.shape()) {
  copy(MoveFrom(start), 0, 0, start.count());
}

void MoveTo::gather(const MoveFrom& from, uint64_t base, std::span<const uint64_t> places, uint64_t target) {
  if (width_ == 0) {
    for (size_t i = 0; i < places.size(); ++i) strings_[target + i] = from.strings_[base + places[i]];
    return;
  }
  with_width(width_, [&](auto width) {
    const std::byte* const source = from.bytes_.data() + base * width;
    std::byte* to = bytes_.data() + target * width;
    for (const uint64_t place : places) {
      std::memcpy(to, source + place * width, width);
      to += width;
    }
  });
}

void MoveTo::scatter(const MoveFrom& from, uint64_t source, std::span<const uint64_t> places) {
  if (width_ == 0) {
    for (size_t i = 0; i < places.size(); ++i) strings_[places[i]] = from.strings_[source + i];
    return;
  }
  with_width(width_, [&](auto width) {
    const std::byte* next = from.bytes_.data() + source * width;
    std::byte* const to = bytes_.data();
    for (const uint64_t place : places) {
      std::memcpy(to + place * width, next, width);
      next += width;
    }
  });
}

void MoveTo::fill(const MoveFrom& from, uint64_t source, uint64_t target, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) copy(from, source, target + i);
}

tensor::Tensor MoveTo::finish() {
  if (width_ == 0) return {dtype_, std::move(shape_), tensor::make_strings(std::move(strings_))};
  if (is_packed(dtype_)) bytes_ = pack(dtype_, bytes_);
  return {dtype_, std::move(shape_), tensor::make_owned(std::move(bytes_))};
}

tensor::Tensor copy_strided(const tensor::Tensor& from, const tensor::Shape& to, int64_t offset,
                            std::span<const int64_t> strides) {
  ASSAY_CHECK(strides.size() == to.size());
  const MoveFrom source(from);
  MoveTo target(from.dtype(), to);
  const uint64_t count = tensor::element_count(to).value();
  if (count == 0) return target.finish();
  const auto row = to.empty() ? 1 : static_cast<uint64_t>(to.back());
  const int64_t step = to.empty() ? 1 : strides.back();
  parallel_for(count / row, std::max<uint64_t>(16384 / row, 1), [&](uint64_t begin, uint64_t end) {
    for (uint64_t r = begin; r < end; ++r) {
      int64_t place = offset;
      uint64_t rest = r;
      for (size_t a = to.size(); a-- > 1;) {
        const auto dim = static_cast<uint64_t>(to[a - 1]);
        place += static_cast<int64_t>(rest % dim) * strides[a - 1];
        rest /= dim;
      }
      if (step == 1) {
        target.copy(source, static_cast<uint64_t>(place), r * row, row);
        continue;
      }
      for (uint64_t i = 0; i < row; ++i) {
        target.copy(source, static_cast<uint64_t>(place + static_cast<int64_t>(i) * step), r * row + i);
      }
    }
  });
  return target.finish();
}

tensor::Tensor reshaped(const tensor::Tensor& tensor, tensor::Shape shape) {
  ASSAY_CHECK(tensor::element_count(shape) == tensor.count());
  return {tensor.dtype(), std::move(shape), tensor.storage()};
}

AxisView view_axis(const tensor::Shape& shape, int64_t axis) {
  AxisView view;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto dim = static_cast<uint64_t>(shape[i]);
    if (static_cast<int64_t>(i) < axis) {
      view.outer *= dim;
    } else if (static_cast<int64_t>(i) == axis) {
      view.length = dim;
    } else {
      view.inner *= dim;
    }
  }
  return view;
}

}  // namespace assay::ops
