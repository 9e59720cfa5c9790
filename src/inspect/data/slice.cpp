#include "inspect/data/slice.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/text.h"

namespace assay::inspect {
namespace {

using tensor::Tensor;

// The places that are taken of one axis: `count` of them.
struct Places {
  int64_t first = 0;
  int64_t count = 0;
  int64_t step = 1;
};

int64_t parse_place(std::string_view text, std::string_view whole) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ErrorCode::usage, "slice `{}`: expected an index or begin:end:step for each axis, as `0,:,3:5`",
         printable(whole));
  }
  return value;
}

AxisSlice parse_axis(std::string_view text, std::string_view whole) {
  const std::vector<std::string_view> parts = split(text, ':');
  AxisSlice slice;
  slice.is_index = parts.size() == 1;
  if (slice.is_index || !parts[0].empty()) slice.begin = parse_place(parts[0], whole);
  if (parts.size() > 1 && !parts[1].empty()) slice.end = parse_place(parts[1], whole);
  if (parts.size() > 2 && !parts[2].empty()) slice.step = parse_place(parts[2], whole);
  if (slice.step < 1 || parts.size() > 3) {
    fail(ErrorCode::usage, "slice `{}`: expected begin:end:step with a step of at least 1", printable(whole));
  }
  return slice;
}

// Python's rule for ranges: what is beyond the ends is cut off.
int64_t clamp_place(int64_t place, int64_t dim) {
  return place < 0 ? std::max<int64_t>(place + dim, 0) : std::min(place, dim);
}

Places places_of(const AxisSlice& slice, int64_t dim, size_t axis) {
  if (slice.is_index) {
    const int64_t place = *slice.begin < 0 ? *slice.begin + dim : *slice.begin;
    if (place >= 0 && place < dim) return {place, 1, 1};
    fail(ErrorCode::usage, "slice: index {} is out of range for axis {} of {} elements", *slice.begin, axis, dim);
  }
  const int64_t begin = clamp_place(slice.begin.value_or(0), dim);
  const int64_t end = std::max(begin, clamp_place(slice.end.value_or(dim), dim));
  const int64_t length = end - begin;
  return {begin, length / slice.step + (length % slice.step != 0 ? 1 : 0), slice.step};
}

// The places of the taken elements in row-major order.
std::vector<uint64_t> element_places(const std::vector<Places>& axes, const tensor::Shape& shape) {
  std::vector<uint64_t> places = {0};
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    std::vector<uint64_t> inner;
    for (const uint64_t place : places) {
      for (int64_t i = 0; i < axes[axis].count; ++i) {
        const int64_t index = axes[axis].first + i * axes[axis].step;
        inner.push_back(place * static_cast<uint64_t>(shape[axis]) + static_cast<uint64_t>(index));
      }
    }
    places = std::move(inner);
  }
  return places;
}

Tensor gather(const Tensor& tensor, tensor::Shape shape, const std::vector<uint64_t>& places) {
  if (tensor.dtype() == tensor::DType::string) {
    std::vector<std::string> strings;
    for (const uint64_t place : places) strings.push_back(tensor.strings()[place]);
    return Tensor(tensor.dtype(), std::move(shape), tensor::make_strings(std::move(strings)));
  }
  const uint64_t width = tensor::bit_width(tensor.dtype()) / 8;
  if (width == 0 || tensor::bit_width(tensor.dtype()) % 8 != 0) {
    fail(ErrorCode::unsupported, "slices of {} cannot be taken", tensor::name(tensor.dtype()));
  }
  const Bytes from = tensor.bytes();
  std::vector<std::byte> bytes(places.size() * width);
  for (size_t i = 0; i < places.size(); ++i) std::memcpy(&bytes[i * width], &from[places[i] * width], width);
  return Tensor(tensor.dtype(), std::move(shape), tensor::make_owned(std::move(bytes)));
}

}  // namespace

Slice parse_slice(std::string_view text) {
  Slice slice;
  for (const std::string_view axis : split(text, ',')) slice.push_back(parse_axis(axis, text));
  return slice;
}

Tensor take_slice(const Tensor& tensor, const Slice& slice) {
  const tensor::Shape& shape = tensor.shape();
  if (slice.size() > shape.size()) {
    fail(ErrorCode::usage, "a slice of {} axes of an array of {}", slice.size(), shape.size());
  }
  std::vector<Places> axes;
  tensor::Shape taken;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const AxisSlice whole;
    const AxisSlice& part = axis < slice.size() ? slice[axis] : whole;
    axes.push_back(places_of(part, shape[axis], axis));
    if (!part.is_index) taken.push_back(axes.back().count);
  }
  return gather(tensor, std::move(taken), element_places(axes, shape));
}

}  // namespace assay::inspect
