#include "compare/shape_match.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace assay::compare {
namespace {

using tensor::Shape;
using tensor::Tensor;

std::string text(std::span<const int64_t> numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); }

// One open dim is what the number of elements leaves; several are taken from the tensor where the ranks agree.
std::optional<Shape> close_dims(const Tensor& tensor, std::span<const int64_t> target) {
  Shape shape(target.begin(), target.end());
  const auto open = std::ranges::count_if(shape, [](int64_t dim) { return dim < 0; });
  if (open > 1) {
    if (shape.size() != tensor.shape().size()) return std::nullopt;
    for (size_t i = 0; i < shape.size(); ++i) shape[i] = shape[i] < 0 ? tensor.shape()[i] : shape[i];
  } else if (open == 1) {
    const auto dim = std::ranges::find_if(shape, [](int64_t d) { return d < 0; });
    *dim = 1;
    const uint64_t others = tensor::element_count(shape).value_or(0);
    if (others == 0 || tensor.count() % others != 0) return std::nullopt;
    *dim = static_cast<int64_t>(tensor.count() / others);
  }
  return shape;
}

// For each dim of the target the first axis of that length that is not taken; empty if the dims are not the same ones.
std::vector<size_t> find_permutation(const Shape& from, const Shape& to) {
  std::vector<size_t> axes;
  std::vector<bool> taken(from.size());
  for (const int64_t dim : to) {
    size_t axis = 0;
    while (axis < from.size() && (taken[axis] || from[axis] != dim)) ++axis;
    if (axis == from.size()) return {};
    taken[axis] = true;
    axes.push_back(axis);
  }
  return axes;
}

// The source's place of each element of the permuted array, in order.
std::vector<uint64_t> permuted_places(const Shape& from, const std::vector<size_t>& axes) {
  std::vector<uint64_t> strides(from.size(), 1);
  for (size_t i = from.size(); i-- > 1;) strides[i - 1] = strides[i] * static_cast<uint64_t>(from[i]);
  std::vector<uint64_t> places = {0};
  for (const size_t axis : axes) {
    std::vector<uint64_t> next;
    next.reserve(places.size() * static_cast<size_t>(from[axis]));
    for (const uint64_t place : places) {
      for (uint64_t i = 0; i < static_cast<uint64_t>(from[axis]); ++i) next.push_back(place + i * strides[axis]);
    }
    places = std::move(next);
  }
  return places;
}

std::optional<Tensor> permute(const Tensor& tensor, const std::vector<size_t>& axes, const Shape& shape) {
  const std::vector<uint64_t> places = permuted_places(tensor.shape(), axes);
  if (tensor.dtype() == tensor::DType::string) {
    std::vector<std::string> strings;
    for (const uint64_t place : places) strings.push_back(tensor.strings()[place]);
    return Tensor(tensor.dtype(), shape, tensor::make_strings(std::move(strings)));
  }
  const uint32_t bits = tensor::bit_width(tensor.dtype());
  if (bits % 8 != 0 || bits == 0) return std::nullopt;
  const size_t width = bits / 8;
  std::vector<std::byte> bytes(places.size() * width);
  const tensor::Bytes from = tensor.bytes();
  for (size_t i = 0; i < places.size(); ++i) memcpy(bytes.data() + i * width, from.data() + places[i] * width, width);
  return Tensor(tensor.dtype(), shape, tensor::make_owned(std::move(bytes)));
}

}  // namespace

std::optional<MatchedTensor> match_shape(const Tensor& tensor, std::span<const int64_t> target) {
  const std::optional<Shape> shape = close_dims(tensor, target);
  if (!shape || tensor::element_count(*shape) != tensor.count()) return std::nullopt;
  if (*shape == tensor.shape()) return MatchedTensor{tensor, ""};
  const std::vector<size_t> axes =
      shape->size() == tensor.shape().size() ? find_permutation(tensor.shape(), *shape) : std::vector<size_t>();
  if (axes.empty()) {
    const std::string what = fmt::format("reshaped from {} to {}", text(tensor.shape()), text(*shape));
    return MatchedTensor{Tensor(tensor.dtype(), *shape, tensor.storage()), what};
  }
  std::optional<Tensor> permuted = permute(tensor, axes, *shape);
  if (!permuted) return std::nullopt;
  const std::vector<int64_t> order(axes.begin(), axes.end());
  return MatchedTensor{*std::move(permuted), fmt::format("permuted from {} to {} by the permutation {}",
                                                         text(tensor.shape()), text(*shape), text(order))};
}

}  // namespace assay::compare
