#include "debug/accuracy/together.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "analysis/products.h"
#include "base/error.h"
#include "base/parallel.h"
#include "ops/kernels/product/matrix_product.h"
#include "ops/traits.h"
#include "tensor/casts.h"

namespace assay::debug {
namespace {

using ops::FloatProducts;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

// The limit for differences between sides: their roundings in float32 are added to the exact numbers, and beside sums
// so much larger they are a hundredth of what correct computations of the same sum do.
constexpr double kSmall = 0x1p-7;
constexpr uint64_t kPlaces = 32;  // of sums, at a time
constexpr uint64_t kElementsAtATime = 16384;

bool has_constant_weights(const ir::Model& model, ir::NodeId id) {
  const ir::Node& node = model[id];
  if (!analysis::is_product_of_rows(model, id)) return false;
  const bool is_live = node.operands[0].value && !model[node.operands[0].value].constant;
  return is_live && std::ranges::all_of(node.operands.subspan(1),
                                        [&](const ir::Use& use) { return !use.value || model[use.value].constant; });
}

bool are_alike(const std::vector<Datum>& data) {
  return std::ranges::all_of(data, [&](const Datum& datum) {
    return is_numeric(datum) && datum.tensor().shape() == data[0].tensor().shape() &&
           datum.declared() == data[0].declared();
  });
}

Datum stacked(const std::vector<Datum>& data) {
  const uint64_t count = data[0].tensor().count();
  std::vector<std::byte> bytes(data.size() * count * sizeof(double));
  auto* const to = reinterpret_cast<double*>(bytes.data());
  parallel_for(data.size(), 1, [&](uint64_t i, uint64_t) {
    const Tensor& tensor = data[i].tensor();
    tensor::load(tensor.dtype(), tensor.bytes(), 0, std::span(to + i * count, count));
  });
  Shape shape = data[0].tensor().shape();
  shape[0] *= static_cast<int64_t>(data.size());
  return {Tensor(DType::float64, std::move(shape), tensor::make_owned(std::move(bytes))), data[0].declared()};
}

std::vector<Datum> parted(const Datum& all, size_t count) {
  Shape shape = all.tensor().shape();
  shape[0] /= static_cast<int64_t>(count);
  const tensor::Bytes bytes = all.tensor().bytes();
  const size_t size = bytes.size() / count;
  std::vector<Datum> parts(count);
  parallel_for(count, 1, [&](uint64_t i, uint64_t) {
    const tensor::Bytes part = bytes.subspan(i * size, size);
    parts[i] =
        Datum(Tensor(all.tensor().dtype(), shape, tensor::make_owned({part.begin(), part.end()})), all.declared());
  });
  return parts;
}

// The layout of the first operand of a product: `depth` elements are summed, `step` apart.
struct Layout {
  uint64_t images = 1;
  uint64_t depth = 1;
  uint64_t step = 1;

  uint64_t image() const { return depth * step; }
};

// Nothing for convolutions of groups, whose sums see few of the channels.
std::optional<Layout> layout_of(bool is_convolution, const Shape& shape, const Shape& weights) {
  const uint64_t count = tensor::element_count(shape).value();
  if (!is_convolution) {
    const auto depth = static_cast<uint64_t>(shape.back());
    return Layout{.images = count / depth, .depth = depth};
  }
  if (shape[1] != weights[1]) return std::nullopt;
  const auto images = static_cast<uint64_t>(shape[0]), channels = static_cast<uint64_t>(shape[1]);
  return Layout{.images = images, .depth = channels, .step = count / (images * channels)};
}

// Takes `truth` off an image from its place `first` on. Whether what is left of each sum's elements is small beside
// them.
bool take_off(const double* truth, double* image, const Layout& layout, uint64_t first) {
  const uint64_t places = std::min(kPlaces, layout.step - first);
  std::array<double, kPlaces> greatest = {};
  std::array<double, kPlaces> squares = {};
  for (uint64_t k = first; k < layout.image(); k += layout.step) {
    for (uint64_t i = 0; i < places; ++i) {
      double& number = image[k + i];
      squares[i] += number * number;
      number -= truth[k + i];
      if (!(std::abs(number) <= greatest[i])) greatest[i] = std::abs(number);  // NaN too
    }
  }
  for (uint64_t i = 0; i < places; ++i) {
    const double rms = std::sqrt(squares[i] / static_cast<double>(layout.depth));
    if (!(greatest[i] <= kSmall * rms) || std::isinf(rms)) return false;
  }
  return true;
}

// The differences of the others from the first, one after the other; nullopt if one is not small.
std::optional<Datum> differences(const std::vector<Datum>& data, const Layout& layout) {
  const std::vector<double> truth = numbers_of(data[0]);
  std::vector<std::byte> bytes((data.size() - 1) * truth.size() * sizeof(double));
  auto* const all = reinterpret_cast<double*>(bytes.data());
  std::atomic<bool> are_small = true;
  const uint64_t grain = std::max<uint64_t>(1, kElementsAtATime / layout.image());
  parallel_for((data.size() - 1) * layout.images, grain, [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end && are_small; ++at) {
      const uint64_t place = at % layout.images * layout.image();
      const Tensor& tensor = data[1 + at / layout.images].tensor();
      double* const image = all + at * layout.image();
      tensor::load(tensor.dtype(), tensor.bytes(), place, std::span(image, layout.image()));
      for (uint64_t first = 0; first < layout.step && are_small; first += kPlaces) {
        if (!take_off(truth.data() + place, image, layout, first)) are_small = false;
      }
    }
  });
  if (!are_small) return std::nullopt;
  Shape shape = data[0].tensor().shape();
  shape[0] *= static_cast<int64_t>(data.size() - 1);
  return Datum(Tensor(DType::float64, std::move(shape), tensor::make_owned(std::move(bytes))), data[0].declared());
}

// Adds the product of what the operands are off to that of the first one.
std::vector<Datum> sums_of(const Datum& truth, const Datum& off, size_t count) {
  const std::vector<double> right = numbers_of(truth);
  std::vector<Datum> sums = {truth};
  for (size_t part = 0; part < count; ++part) {
    std::vector<std::byte> bytes(right.size() * sizeof(double));
    const std::span<double> numbers(reinterpret_cast<double*>(bytes.data()), right.size());
    parallel_for(right.size(), kElementsAtATime, [&](uint64_t begin, uint64_t end) {
      const std::span<double> piece = numbers.subspan(begin, end - begin);
      tensor::load(off.tensor().dtype(), off.tensor().bytes(), part * right.size() + begin, piece);
      for (uint64_t i = begin; i < end; ++i) numbers[i] += right[i];
    });
    sums.emplace_back(Tensor(DType::float64, truth.tensor().shape(), tensor::make_owned(std::move(bytes))),
                      truth.declared());
  }
  return sums;
}

Datum zeros_like(const Datum& datum) { return with_numbers(datum, std::vector<double>(datum.tensor().count())); }

}  // namespace

std::optional<std::vector<Datum>> products_together(const ir::Model& model, ir::NodeId node,
                                                    std::span<const OperandSource> operands, LayerOracle& oracle) {
  if (!has_constant_weights(model, node)) return std::nullopt;
  const ir::ValueId first = model[node].operands[0].value;
  std::vector<Datum> data;
  for (const OperandSource& source : operands) data.push_back(source(first));
  const bool is_floating = are_alike(data) && tensor::is_floating(data[0].declared());
  const bool has_rows = is_floating && data[0].tensor().shape().size() > 1 && data[0].tensor().count() > 0;
  const bool is_convolution = ops::traits(model, node).product == ops::ProductKind::convolution;
  const Datum weights = operands[0](model[node].operands[1].value);
  if (!has_rows || (!is_convolution && weights.tensor().shape().size() != 2)) return std::nullopt;
  const auto product_of = [&](const Datum& operand, bool is_off) {
    return oracle.exact(node, [&](ir::ValueId value) {
      if (value == first) return operand;
      const Datum constant = operands[0](value);
      const bool is_bias = value != model[node].operands[1].value && constant.is_tensor();
      return is_off && is_bias ? zeros_like(constant) : constant;
    })[0];
  };
  const std::variant<std::vector<Datum>, Error> products = attempt([&] {
    const std::optional<Layout> layout = layout_of(is_convolution, data[0].tensor().shape(), weights.tensor().shape());
    const std::optional<Datum> off = layout && data.size() > 1 ? differences(data, *layout) : std::nullopt;
    if (!off) return parted(product_of(stacked(data), false), data.size());
    const Datum truth = product_of(data[0], false);
    const FloatProducts floats;
    return sums_of(truth, product_of(*off, true), data.size() - 1);
  });
  const std::vector<Datum>* const made = std::get_if<std::vector<Datum>>(&products);
  return made == nullptr ? std::nullopt : std::optional(*made);
}

}  // namespace assay::debug
