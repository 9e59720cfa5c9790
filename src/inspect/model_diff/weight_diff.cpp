#include "inspect/model_diff/weight_diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>

#include "tensor/casts.h"
#include "tensor/index.h"

namespace assay::inspect {
namespace {

using results::TensorDistance;
using tensor::Tensor;

constexpr uint64_t kTile = 4096;  // elements; a multiple of 8, so that a tile of any element type is whole bytes

double magnitude(double value) { return std::abs(value); }
double magnitude(std::complex<double> value) { return std::abs(value); }
double magnitude(uint64_t value) { return static_cast<double>(value); }
double magnitude(int64_t value) { return std::abs(static_cast<double>(value)); }

double gap(double a, double b) { return a == b ? 0 : std::abs(a - b); }
double gap(std::complex<double> a, std::complex<double> b) { return a == b ? 0 : std::abs(a - b); }
double gap(uint64_t a, uint64_t b) { return static_cast<double>(a > b ? a - b : b - a); }
double gap(int64_t a, int64_t b) {
  const uint64_t difference = static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
  return static_cast<double>(a > b ? difference : -difference);
}

template <typename T>
bool is_nan(T value) {
  return std::isnan(magnitude(value));
}
template <typename T>
bool is_inf(T value) {
  return std::isinf(magnitude(value));
}

// Walks two tensors of one type in tiles and adds up how far they are apart.
template <typename T>
class Comparison {
 public:
  Comparison(const Tensor& a, const Tensor& b, const Tolerance& tolerance) : a_(a), b_(b), tolerance_(tolerance) {}

  TensorDistance run() {
    const tensor::Bytes bytes_a = a_.bytes();
    const tensor::Bytes bytes_b = b_.bytes();
    result_.count = a_.count();
    for (uint64_t first = 0; first < a_.count(); first += kTile) {
      const uint64_t count = std::min(kTile, a_.count() - first);
      load(bytes_a, first, std::span(tile_a_.data(), count));
      count_specials(std::span(tile_a_.data(), count), result_.nan_count_before, result_.inf_count_before);
      if (same_tile(bytes_a, bytes_b, first, count)) {
        count_specials(std::span(tile_a_.data(), count), result_.nan_count_after, result_.inf_count_after);
        finite_count_ += count;
        for (const T value : std::span(tile_a_.data(), count)) add_to_norm(value);
        continue;
      }
      load(bytes_b, first, std::span(tile_b_.data(), count));
      count_specials(std::span(tile_b_.data(), count), result_.nan_count_after, result_.inf_count_after);
      add(first, count);
    }
    result_.mean_abs = finite_count_ > 0 ? sum_ / static_cast<double>(finite_count_) : 0;
    if (squares_ > 0) result_.relative_norm = static_cast<double>(std::sqrt(squares_ / norm_));
    return std::move(result_);
  }

 private:
  void load(tensor::Bytes bytes, uint64_t first, std::span<T> tile) {
    if constexpr (std::is_same_v<T, std::complex<double>>)
      tensor::load_complex(a_.dtype(), bytes, first, tile);
    else
      tensor::load(a_.dtype(), bytes, first, tile);
  }

  bool same_tile(tensor::Bytes a, tensor::Bytes b, uint64_t first, uint64_t count) const {
    const uint64_t bits = tensor::bit_width(a_.dtype());
    return std::memcmp(a.data() + first * bits / 8, b.data() + first * bits / 8, (count * bits + 7) / 8) == 0;
  }

  static void count_specials(std::span<const T> tile, uint64_t& nans, uint64_t& infs) {
    if constexpr (!std::is_integral_v<T>) {
      for (const T value : tile) {
        nans += is_nan(value);
        infs += is_inf(value);
      }
    }
  }

  // An infinity equals itself only, whatever the tolerance.
  bool is_within(double distance, double size) const {
    return distance == 0 || (std::isfinite(distance) && distance <= tolerance_.atol + tolerance_.rtol * size);
  }

  void add(uint64_t first, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      const double distance = gap(tile_a_[i], tile_b_[i]);
      const double size = magnitude(tile_b_[i]);
      if (!is_within(distance, size)) add_differing(first + i, i);
      if (!std::isfinite(distance)) continue;
      ++finite_count_;
      sum_ += distance;
      squares_ += static_cast<long double>(distance) * distance;
      add_to_norm(tile_a_[i]);
      result_.max_abs = std::max(result_.max_abs, distance);
      if (size > 0 && std::isfinite(size)) result_.max_rel = std::max(result_.max_rel, distance / size);
    }
  }

  void add_to_norm(T value) {
    const long double size = magnitude(value);
    if (std::isfinite(size)) norm_ += size * size;
  }

  void add_differing(uint64_t place, uint64_t in_tile) {
    if (is_nan(tile_a_[in_tile]) && is_nan(tile_b_[in_tile])) return;
    if (result_.differing_count++ == 0) result_.first_differing = tensor::index_of(place, a_.shape());
  }

  const Tensor& a_;
  const Tensor& b_;
  const Tolerance& tolerance_;
  TensorDistance result_;
  double sum_ = 0;
  long double squares_ = 0;  // of distances
  long double norm_ = 0;     // of the first side, squared; wide enough for all squares of doubles
  uint64_t finite_count_ = 0;
  std::array<T, kTile> tile_a_;
  std::array<T, kTile> tile_b_;
};

template <typename Items>
TensorDistance count_different(const Items& a, const Items& b, const tensor::Shape& shape) {
  TensorDistance result;
  result.numeric = false;
  result.count = a.size();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) continue;
    if (result.differing_count++ == 0) result.first_differing = tensor::index_of(i, shape);
  }
  return result;
}

TensorDistance distance_of(const Tensor& a, const Tensor& b, const Tolerance& tolerance) {
  switch (tensor::kind(a.dtype())) {
    case tensor::DTypeKind::floating:
      return Comparison<double>(a, b, tolerance).run();
    case tensor::DTypeKind::complex:
      return Comparison<std::complex<double>>(a, b, tolerance).run();
    case tensor::DTypeKind::signed_integer:
      return Comparison<int64_t>(a, b, tolerance).run();
    case tensor::DTypeKind::unsigned_integer:
    case tensor::DTypeKind::boolean:
      return Comparison<uint64_t>(a, b, tolerance).run();
    case tensor::DTypeKind::string:
      return count_different(a.strings(), b.strings(), a.shape());
    case tensor::DTypeKind::none:
      break;
  }
  const int64_t bytes = static_cast<int64_t>(std::max(a.size_bytes(), b.size_bytes()));
  return count_different(a.bytes(), b.bytes(), {bytes});
}

bool same_elements_of(const Tensor& a, const Tensor& b) {
  if (a.storage() == b.storage()) return true;
  if (a.dtype() == tensor::DType::string) return std::ranges::equal(a.strings(), b.strings());
  const std::optional<uint64_t> packed = tensor::packed_bytes(a.dtype(), a.count());
  if (!packed && a.size_bytes() != b.size_bytes()) return false;
  const uint64_t size = packed.value_or(a.size_bytes());
  return size == 0 || std::memcmp(a.bytes().data(), b.bytes().data(), size) == 0;
}

bool same_type_of(const Tensor& a, const Tensor& b) { return a.dtype() == b.dtype() && a.shape() == b.shape(); }

}  // namespace

// Sparse tensors with other indices are of another type: their elements are not at the same places.
bool same_tensor_type(const ir::TensorEntry& a, const ir::TensorEntry& b) {
  if ((a.sparse == nullptr) != (b.sparse == nullptr)) return false;
  if (!a.sparse) return same_type_of(a.tensor, b.tensor);
  return a.sparse->dims == b.sparse->dims && same_type_of(a.sparse->values, b.sparse->values) &&
         same_type_of(a.sparse->indices, b.sparse->indices) && same_elements_of(a.sparse->indices, b.sparse->indices);
}

bool same_elements(const ir::TensorEntry& a, const ir::TensorEntry& b) {
  return a.sparse ? same_elements_of(a.sparse->values, b.sparse->values) : same_elements_of(a.tensor, b.tensor);
}

TensorDistance tensor_distance(const ir::TensorEntry& a, const ir::TensorEntry& b, const Tolerance& tolerance) {
  return a.sparse ? distance_of(a.sparse->values, b.sparse->values, tolerance)
                  : distance_of(a.tensor, b.tensor, tolerance);
}

}  // namespace assay::inspect
