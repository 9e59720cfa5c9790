#include "analysis/samples.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "analysis/moves.h"
#include "base/parallel.h"
#include "tensor/casts.h"

namespace assay::analysis {
namespace {

using tensor::Datum;
using tensor::DType;
using tensor::Tensor;

constexpr uint64_t kPiece = 16384;  // elements at a time

bool is_floating(const Datum& datum) { return datum.is_tensor() && tensor::is_floating(datum.declared()); }

bool is_held_as_difference(const Datum& nominal, const Datum& value) {
  return is_floating(nominal) && is_floating(value) && nominal.tensor().shape() == value.tensor().shape();
}

// A tensor of T, shaped like `nominal`, of fn(nominal number, number of `other`).
template <typename T, typename Fn>
Datum combined(DType dtype, const Datum& nominal, const Datum& other, Fn&& fn) {
  const Tensor& a = nominal.tensor();
  const Tensor& b = other.tensor();
  std::vector<std::byte> bytes(a.count() * sizeof(T));
  auto* const to = reinterpret_cast<T*>(bytes.data());
  parallel_for(a.count(), kPiece, [&](uint64_t begin, uint64_t end) {
    std::vector<double> left(end - begin);
    std::vector<double> right(end - begin);
    tensor::load(a.dtype(), a.bytes(), begin, std::span<double>(left));
    tensor::load(b.dtype(), b.bytes(), begin, std::span<double>(right));
    for (uint64_t i = begin; i < end; ++i) to[i] = static_cast<T>(fn(left[i - begin], right[i - begin]));
  });
  return {Tensor(dtype, a.shape(), tensor::make_owned(std::move(bytes))), nominal.declared()};
}

// Most are different near their beginning.
bool is_nowhere_different(const Datum& nominal, const Datum& held) {
  const Tensor& a = nominal.tensor();
  const Tensor& b = held.tensor();
  for (uint64_t begin = 0; begin < a.count(); begin += kPiece) {
    const uint64_t size = std::min(kPiece, a.count() - begin);
    std::vector<double> left(size);
    std::vector<double> right(size);
    tensor::load(a.dtype(), a.bytes(), begin, std::span<double>(left));
    tensor::load(b.dtype(), b.bytes(), begin, std::span<double>(right));
    for (uint64_t i = 0; i < size; ++i) {
      if (difference_of(left[i], right[i]) != 0) return false;
    }
  }
  return true;
}

}  // namespace

double difference_of(double nominal, double held) {
  if (std::isfinite(nominal)) return std::isnan(held) ? std::numeric_limits<double>::infinity() : held;
  const bool is_same = held == nominal || (std::isnan(held) && std::isnan(nominal));
  return is_same ? 0 : std::numeric_limits<double>::infinity();
}

// Undoes Samples::held().
static Datum value_of(const Datum& nominal, const Datum& held) {
  if (!is_held_as_difference(nominal, held)) return held;
  return combined<double>(DType::float64, nominal, held,
                          [](double number, double by) { return std::isfinite(number) ? number + by : by; });
}

Datum Samples::of(uint32_t run) const { return moved.empty() ? nominal : value_of(nominal, moved[run]); }

Datum Samples::without_steps(uint32_t run) const {
  return unstepped.empty() ? of(run) : value_of(nominal, unstepped[run]);
}

Datum Samples::held(const Datum& value) const {
  if (!is_held_as_difference(nominal, value)) return value;
  const auto from = [](double number, double other) { return std::isfinite(number) ? other - number : other; };
  const bool is_wide = nominal.declared() == DType::float64;
  return is_wide ? combined<double>(DType::float64, nominal, value, from)
                 : combined<float>(DType::float32, nominal, value, from);
}

void settle(Samples& samples) {
  const Datum& nominal = samples.nominal;
  const auto has_form = [&](const Datum& moved) {
    if (moved.kind() != nominal.kind()) return false;
    return !moved.is_tensor() || moved.tensor().shape() == nominal.tensor().shape();
  };
  const auto is_like_nominal = [&](const Datum& moved) {
    return is_held_as_difference(nominal, moved) ? is_nowhere_different(nominal, moved) : equal_bits(moved, nominal);
  };
  if (!std::ranges::all_of(samples.moved, has_form)) {
    samples.unknown = "its shape depends on roundings";
  } else if (std::ranges::all_of(samples.moved, is_like_nominal)) {
    samples.moved.clear();
    samples.unstepped.clear();
  }
}

}  // namespace assay::analysis
