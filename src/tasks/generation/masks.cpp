#include "tasks/generation/masks.h"

#include <algorithm>

#include "tasks/generation/feeds.h"
#include "tensor/elements.h"

namespace assay::tasks {
namespace {

using tensor::Tensor;

constexpr size_t kLists = 2;   // dims of a mask that is a list for each row
constexpr double kFar = -1e4;  // no score that it is added to counts, and no type turns it to infinity

// A mask as matrices of rows, one for each token, of places.
struct Matrices {
  explicit Matrices(const Tensor& mask)
      : shape(mask.shape()),
        numbers(mask_numbers(mask)),
        elements(tensor::load_elements<double>(mask)),
        width(static_cast<size_t>(shape.back())),
        height(static_cast<size_t>(shape[shape.size() - 2])),
        count(width * height == 0 ? 0 : elements.size() / (width * height)) {}

  std::vector<double> row(size_t matrix, size_t number) const {
    const auto begin = elements.begin() + static_cast<std::ptrdiff_t>((matrix * height + number) * width);
    return {begin, begin + static_cast<std::ptrdiff_t>(width)};
  }

  Tensor made(const Tensor& old, size_t rows, size_t columns, const std::vector<double>& all) const {
    tensor::Shape dims = shape;
    dims.back() = static_cast<int64_t>(columns);
    dims[dims.size() - 2] = static_cast<int64_t>(rows);
    return make_numbers(old.dtype(), std::move(dims), all);
  }

  tensor::Shape shape;
  MaskNumbers numbers;
  std::vector<double> elements;
  size_t width;
  size_t height;
  size_t count;
};

void append(const std::vector<double>& row, std::vector<double>& all) { all.insert(all.end(), row.begin(), row.end()); }

}  // namespace

MaskNumbers usual_mask_numbers(tensor::DType dtype) {
  return tensor::is_floating(dtype) ? MaskNumbers{0, kFar} : MaskNumbers();
}

MaskNumbers mask_numbers(const Tensor& mask) {
  const std::vector<double> elements = tensor::load_elements<double>(mask);
  if (elements.empty()) return {};
  const double least = *std::ranges::min_element(elements);
  if (least < 0) return {0, least};
  const bool has_ones = std::ranges::find(elements, 1.0) != elements.end();
  return has_ones || mask.shape().size() <= kLists ? MaskNumbers() : usual_mask_numbers(mask.dtype());
}

Tensor next_mask_row(const Tensor& mask) {
  const Matrices old(mask);
  std::vector<double> all;
  for (size_t matrix = 0; matrix < old.count; ++matrix) {
    append(old.row(matrix, old.height - 1), all);
    all.push_back(old.numbers.seen);
  }
  return old.made(mask, 1, old.width + 1, all);
}

Tensor next_mask_row(const Tensor& mask, uint64_t place) {
  const Matrices old(mask);
  std::vector<double> all;
  for (size_t matrix = 0; matrix < old.count; ++matrix) {
    append(old.row(matrix, old.height - 1), all);
    if (place < old.width) all[all.size() - old.width + place] = old.numbers.seen;
  }
  return old.made(mask, 1, old.width, all);
}

Tensor grown_mask(const Tensor& mask) {
  const Matrices old(mask);
  std::vector<double> all;
  for (size_t matrix = 0; matrix < old.count; ++matrix) {
    for (size_t row = 0; row < old.height; ++row) {
      append(old.row(matrix, row), all);
      all.push_back(old.numbers.hidden);
    }
    append(old.row(matrix, old.height - 1), all);
    all.push_back(old.numbers.seen);
  }
  return old.made(mask, old.height + 1, old.width + 1, all);
}

Tensor filled_mask(const Tensor& mask, uint64_t token) {
  const Matrices old(mask);
  std::vector<double> all;
  for (size_t matrix = 0; matrix < old.count; ++matrix) {
    for (size_t row = 0; row < old.height; ++row) {
      append(old.row(matrix, row == token && row > 0 ? row - 1 : row), all);
      if (row == token && token < old.width) all[all.size() - old.width + token] = old.numbers.seen;
    }
  }
  return old.made(mask, old.height, old.width, all);
}

}  // namespace assay::tasks
