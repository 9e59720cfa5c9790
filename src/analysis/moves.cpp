#include "analysis/moves.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "base/parallel.h"
#include "tensor/casts.h"
#include "tensor/elements.h"

namespace assay::analysis {
namespace {

using tensor::Datum;
using tensor::DType;
using tensor::Tensor;

constexpr uint64_t kPiece = 16384;

uint64_t mixed(uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

// Draws numbers from [-1, 1), evenly, or both that are as far away as these are in the mean of squares.
class Draws {
 public:
  explicit Draws(const MoveKey& key)
      : stream_(mixed(mixed(key.seed ^ (uint64_t{key.node} << 32 | key.run)) + key.operand)), draw_(key.draw) {}

  double operator()(uint64_t index) const {
    const auto bits = static_cast<int64_t>(mixed(stream_ + index));
    if (draw_ == Draw::numbers) return static_cast<double>(bits) * 0x1p-63;
    return (bits < 0) == (draw_ == Draw::signs) ? -1 / std::numbers::sqrt3 : 1 / std::numbers::sqrt3;
  }

 private:
  uint64_t stream_;
  Draw draw_;
};

bool is_moved(const Datum& datum) {
  return datum.is_tensor() && tensor::is_floating(datum.declared()) && datum.tensor().dtype() == DType::float64;
}

std::span<const double> doubles(const Datum& datum) {
  const tensor::Bytes bytes = datum.tensor().bytes();
  return {reinterpret_cast<const double*>(bytes.data()), static_cast<size_t>(datum.tensor().count())};
}

// A tensor like `datum`, whose pieces fn(begin, span of results) fills.
template <typename Fn>
Datum made_like(const Datum& datum, Fn&& fn) {
  const uint64_t count = datum.tensor().count();
  std::vector<std::byte> bytes(count * sizeof(double));
  const std::span<double> results(reinterpret_cast<double*>(bytes.data()), count);
  parallel_for(count, kPiece, [&](uint64_t begin, uint64_t end) { fn(begin, results.subspan(begin, end - begin)); });
  return {Tensor(DType::float64, datum.tensor().shape(), tensor::make_owned(std::move(bytes))), datum.declared()};
}

// Elements of the last two dims, or of the last one.
uint64_t plane_of(const Tensor& tensor) {
  uint64_t count = 1;
  const tensor::Shape& dims = tensor.shape();
  for (size_t i = dims.size() > 2 ? 2 : dims.size() > 1 ? 1 : 0; i < dims.size(); ++i)
    count *= static_cast<uint64_t>(dims[i]);
  return std::max<uint64_t>(count, 1);
}

// The greatest size in each picture of `result`, and in the one of `source` that has as many, or in all of these.
std::vector<double> plane_sizes(const Datum& result, const Datum* source) {
  const std::span<const double> values = doubles(result);
  const uint64_t plane = plane_of(result.tensor());
  std::vector<double> sizes(values.size() / plane);
  const bool is_read = source != nullptr && is_moved(*source);
  const std::span<const double> read = is_read ? doubles(*source) : std::span<const double>();
  const uint64_t read_plane = is_read ? plane_of(source->tensor()) : 1;
  const bool is_alike = is_read && read.size() / read_plane == sizes.size();
  const double all = is_read && !is_alike ? greatest_size(read) : 0;
  parallel_for(sizes.size(), 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      sizes[i] = std::max(all, greatest_size(values.subspan(i * plane, plane)));
      if (is_alike) sizes[i] = std::max(sizes[i], greatest_size(read.subspan(i * read_plane, read_plane)));
    }
  });
  return sizes;
}

// To the nearest of numbers that a computation in the type may hit exactly: those of the type; of float64, in which
// everything is computed here, those of 40 bits.
double rounded_double(double value) {
  constexpr uint64_t kHalf = uint64_t{1} << 12;
  const uint64_t bits = std::bit_cast<uint64_t>(value) + kHalf;
  return std::isfinite(value) ? std::bit_cast<double>(bits & ~(2 * kHalf - 1)) : value;
}

void round_to(DType dtype, std::span<double> values) {
  if (dtype == DType::float64) {
    for (double& value : values) value = rounded_double(value);
    return;
  }
  if (dtype == DType::float32) {
    for (double& value : values) value = static_cast<double>(static_cast<float>(value));
    return;
  }
  std::vector<std::byte> packed((values.size() * tensor::bit_width(dtype) + 7) / 8);
  tensor::store(dtype, values, 0, packed);
  tensor::load(dtype, packed, 0, values);
}

// Moved numbers as a run passes them on, rounded to the type. Of types of 32 bits and more, every other run keeps what
// rounding would take: a move that rounding hides in all runs would pass for certainty.
void keep_in(DType dtype, uint32_t run, std::span<double> values) {
  if (tensor::bit_width(dtype) < 32 || (run % 2 != 0 && dtype != DType::float64)) return round_to(dtype, values);
  if (dtype != DType::float32) return;
  for (double& value : values) {
    const float narrow = static_cast<float>(value);
    if (std::isinf(narrow)) value = static_cast<double>(narrow);
  }
}

}  // namespace

double greatest_size(std::span<const double> values) {
  double greatest = 0;
  for (const double value : values) greatest = std::isfinite(value) ? std::max(greatest, std::fabs(value)) : greatest;
  return greatest;
}

bool are_small_multiples(std::span<const double> values, double terms) {
  int lowest = std::numeric_limits<int>::max();
  for (const double value : values) {
    if (value == 0 || !std::isfinite(value)) continue;
    const int zeros = std::countr_zero(std::bit_cast<uint64_t>(value) | uint64_t{1} << 52);
    lowest = std::min(lowest, std::ilogb(value) - 52 + zeros);
  }
  return lowest == std::numeric_limits<int>::max() || terms * greatest_size(values) <= std::ldexp(1, 24 + lowest);
}

bool keeps_wide(const MoveKey& key) {
  if (key.run % 3 == 0) return true;
  return key.run % 3 == 1 && Draws(key)(~uint64_t{0}) < 0;
}

// The type to which the run rounds a result.
static DType kept_type(const Datum& datum, const MoveKey& key) {
  return tensor::bit_width(datum.declared()) < 32 && keeps_wide(key) ? DType::float32 : datum.declared();
}

double arithmetic_roundoff(DType declared) { return declared == DType::float64 ? 0x1p-53 : 0x1p-24; }

Datum moved_input(const Datum& datum, double amplitude, const MoveKey& key) {
  if (!is_moved(datum) || amplitude == 0) return datum;
  const std::span<const double> from = doubles(datum);
  const Draws draws(key);
  const double scale = amplitude * std::max(arithmetic_roundoff(datum.declared()), key.least_roundoff);
  return made_like(datum, [&](uint64_t begin, std::span<double> to) {
    for (size_t i = 0; i < to.size(); ++i) to[i] = from[begin + i] * (1 + scale * draws(begin + i));
  });
}

Datum moved_output(const Datum& datum, const Rounding& rounding, const Datum* first_input, const MoveKey& key) {
  if (!is_moved(datum) || rounding.kind == RoundingKind::exact) return datum;
  const std::span<const double> from = doubles(datum);
  const bool counts_input = rounding.counts_input && first_input != nullptr && is_moved(*first_input) &&
                            first_input->tensor().count() == from.size();
  const std::span<const double> inputs = counts_input ? doubles(*first_input) : from;
  const Draws draws(key);
  const double scale = rounding.output * std::max(arithmetic_roundoff(datum.declared()), key.least_roundoff);
  const double least = rounding.counts_one ? 1 : 0;
  const std::vector<double> planes = rounding.counts_plane ? plane_sizes(datum, first_input) : std::vector<double>();
  const uint64_t plane = plane_of(datum.tensor());
  const DType target = kept_type(datum, key);
  return made_like(datum, [&](uint64_t begin, std::span<double> to) {
    std::copy_n(from.begin() + static_cast<int64_t>(begin), to.size(), to.begin());
    round_to(target, to);
    for (size_t i = 0; i < to.size(); ++i) {
      const double exact = from[begin + i];
      if ((to[i] == exact && planes.empty()) || !std::isfinite(exact)) continue;
      const double of_plane = planes.empty() ? 0 : planes[(begin + i) / plane];
      const double size = std::max({std::fabs(exact), least, std::fabs(inputs[begin + i]), of_plane});
      to[i] = exact + scale * size * draws(begin + i);
    }
    keep_in(target, key.run, to);
  });
}

Datum moved_by(const Datum& datum, std::span<const float> deviations, const MoveKey& key) {
  const std::span<const double> from = doubles(datum);
  const Draws draws(key);
  const double amplitude = std::sqrt(3.0);
  return made_like(datum, [&](uint64_t begin, std::span<double> to) {
    for (size_t i = 0; i < to.size(); ++i) {
      const double by = amplitude * static_cast<double>(deviations[begin + i]) * draws(begin + i);
      to[i] = std::isfinite(by) ? from[begin + i] + by : from[begin + i];
    }
    keep_in(kept_type(datum, key), key.run, to);
  });
}

Datum rounded(const Datum& datum) {
  if (!is_moved(datum) || datum.declared() == DType::float64) return datum;
  const std::span<const double> from = doubles(datum);
  return made_like(datum, [&](uint64_t begin, std::span<double> to) {
    std::copy_n(from.begin() + static_cast<int64_t>(begin), to.size(), to.begin());
    round_to(datum.declared(), to);
  });
}

Datum compact(const Datum& datum) {
  if (!is_moved(datum) || datum.declared() == DType::float64) return datum;
  const std::span<const double> from = doubles(datum);
  std::vector<std::byte> bytes(from.size() * sizeof(float));
  auto* const to = reinterpret_cast<float*>(bytes.data());
  parallel_for(from.size(), kPiece, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) to[i] = static_cast<float>(from[i]);
  });
  return {Tensor(DType::float32, datum.tensor().shape(), tensor::make_owned(std::move(bytes))), datum.declared()};
}

Datum nominal_of(const Datum& exact) {  // making floats of float32 rounds
  const bool is_narrow = exact.is_tensor() && tensor::bit_width(exact.declared()) < 32;
  return compact(is_narrow ? rounded(exact) : exact);
}

// True if rounding does not change a floating tensor.
static bool is_exact(const Datum& datum) {
  const std::span<const double> from = doubles(datum);
  const auto count_rounded = [&](uint64_t begin, uint64_t end) {
    std::vector<double> piece(from.begin() + static_cast<int64_t>(begin), from.begin() + static_cast<int64_t>(end));
    round_to(datum.declared(), piece);
    uint64_t count = 0;
    for (uint64_t i = begin; i < end; ++i) count += piece[i - begin] == from[i] || std::isnan(from[i]) ? 0 : 1;
    return count;
  };
  return parallel_reduce(from.size(), kPiece, uint64_t{0}, count_rounded, std::plus<>()) == 0;
}

bool are_exact(std::span<const Datum> data) {
  return std::ranges::all_of(data, [](const Datum& datum) { return !is_moved(datum) || is_exact(datum); });
}

bool equal_bits(const Datum& a, const Datum& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_none()) return true;
  if (!a.is_tensor() || a.tensor().dtype() == DType::string) return false;
  if (a.tensor().shape() != b.tensor().shape() || a.tensor().dtype() != b.tensor().dtype()) return false;
  return a.tensor().storage() == b.tensor().storage() || std::ranges::equal(a.tensor().bytes(), b.tensor().bytes());
}

Datum moved_to_edges(const Datum& datum, std::span<const float> allowances, const MoveKey& key) {
  if (!is_moved(datum) || allowances.empty()) return datum;
  const std::span<const double> from = doubles(datum);
  const Draws draws(key);
  const bool is_reverse = key.operand % 2 != 0;
  return made_like(datum, [&](uint64_t begin, std::span<double> to) {
    for (size_t i = 0; i < to.size(); ++i) {
      double share = key.run == 0 ? -1 : key.run == 1 ? 1 : draws(begin + i);
      if (is_reverse) share = -share;
      const double moved = from[begin + i] + share * static_cast<double>(allowances[begin + i]);
      to[i] = std::isfinite(moved) ? moved : from[begin + i];
    }
  });
}

Datum amplified(const Datum& nominal, const Datum& moved, double factor) {
  const bool fits = is_moved(nominal) && is_moved(moved) && nominal.tensor().shape() == moved.tensor().shape();
  if (!fits) return moved;
  const std::span<const double> a = doubles(nominal);
  const std::span<const double> b = doubles(moved);
  return made_like(moved, [&](uint64_t begin, std::span<double> to) {
    for (size_t i = 0; i < to.size(); ++i) {
      const double further = a[begin + i] + factor * (b[begin + i] - a[begin + i]);
      to[i] = std::isfinite(further) ? further : b[begin + i];
    }
  });
}

Datum turned(const Datum& datum, int64_t axis, uint32_t run) {
  const Tensor& tensor = datum.tensor();
  const tensor::Shape& dims = tensor.shape();
  const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis);
  const auto length = static_cast<uint64_t>(dims[at]);
  if (tensor.count() == 0 || length < 2) return datum;
  uint64_t inner = tensor::bit_width(tensor.dtype()) / 8;
  for (size_t i = at + 1; i < dims.size(); ++i) inner *= static_cast<uint64_t>(dims[i]);
  std::vector<std::byte> bytes(tensor.bytes().begin(), tensor.bytes().end());
  const auto ring = static_cast<int64_t>(length * inner);
  const auto shift = static_cast<int64_t>((1 + run % (length - 1)) * inner);
  for (auto first = bytes.begin(); first != bytes.end(); first += ring) std::rotate(first, first + shift, first + ring);
  return {Tensor(tensor.dtype(), dims, tensor::make_owned(std::move(bytes))), datum.declared()};
}

Datum with_flips(const Datum& moved, const Flips& flips, uint32_t run) {
  const tensor::DType dtype = moved.tensor().dtype();
  std::vector<int64_t> values = tensor::load_elements<int64_t>(moved.tensor());
  const std::vector<int64_t> nominal = tensor::load_elements<int64_t>(flips.nominal.tensor());
  const std::vector<int64_t> down = tensor::load_elements<int64_t>(flips.down.tensor());
  const std::vector<int64_t> up = tensor::load_elements<int64_t>(flips.up.tensor());
  for (size_t i = 0; i < values.size(); ++i) {
    if (down[i] == nominal[i] && up[i] == nominal[i]) continue;
    const uint64_t turn = mixed(i) + run;
    const bool is_down = up[i] == nominal[i] || (down[i] != nominal[i] && turn % 4 == 0);
    values[i] = turn % 2 != 0 ? nominal[i] : is_down ? down[i] : up[i];
  }
  std::vector<std::byte> bytes(moved.tensor().bytes().size());
  tensor::store(dtype, std::span<const int64_t>(values), 0, bytes);
  return {Tensor(dtype, moved.tensor().shape(), tensor::make_owned(std::move(bytes))), moved.declared()};
}

}  // namespace assay::analysis
