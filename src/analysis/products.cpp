#include "analysis/products.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/moves.h"
#include "base/parallel.h"
#include "ops/kernels/product/matrix_product.h"
#include "ops/traits.h"
#include "tensor/casts.h"
#include "tensor/elements.h"

namespace assay::analysis {
namespace {

using tensor::Datum;
using tensor::DType;
using tensor::Tensor;

constexpr int kMostScale = 120;  // exponent of a factor whose powers do not overflow
constexpr uint64_t kPiece = 16384;

// Power of two that brings the greatest finite number near 1, so that squares fit into a float.
double scale_of(const Datum& datum) {
  const Tensor& tensor = datum.tensor();
  const auto greatest_of = [&](uint64_t begin, uint64_t end) {
    std::vector<double> numbers(end - begin);
    tensor::load(tensor.dtype(), tensor.bytes(), begin, std::span(numbers));
    return greatest_size(numbers);
  };
  const auto larger = [](double a, double b) { return std::max(a, b); };
  const double greatest = parallel_reduce(tensor.count(), kPiece, 0.0, greatest_of, larger);
  return greatest == 0 ? 1 : std::ldexp(1, std::clamp(-std::ilogb(greatest), -kMostScale, kMostScale));
}

// All times `scale`, then squared.
Datum squared(const Datum& datum, double scale) {
  const Tensor& tensor = datum.tensor();
  std::vector<std::byte> bytes(tensor.count() * sizeof(double));
  const std::span<double> numbers(reinterpret_cast<double*>(bytes.data()), tensor.count());
  parallel_for(numbers.size(), kPiece, [&](uint64_t begin, uint64_t end) {
    const std::span<double> piece = numbers.subspan(begin, end - begin);
    tensor::load(tensor.dtype(), tensor.bytes(), begin, piece);
    for (double& number : piece) number = number * scale * (number * scale);
  });
  return {Tensor(DType::float64, tensor.shape(), tensor::make_owned(std::move(bytes))), datum.declared()};
}

bool are_small(const Samples& first, uint32_t runs) {
  const bool has_rows = first.nominal.is_tensor() && first.nominal.tensor().shape().size() > 1;
  if (!has_rows || first.moved.size() < runs) return false;
  return std::ranges::all_of(first.moved, [&](const Datum& moved) {
    const Tensor& tensor = moved.tensor();
    const auto add = [&](uint64_t begin, uint64_t end) {
      std::vector<double> numbers(end - begin);
      tensor::load(tensor.dtype(), tensor.bytes(), begin, std::span(numbers));
      double sum = 0;
      for (const double number : numbers) sum += std::fabs(number);
      return sum;
    };
    return std::isfinite(parallel_reduce(tensor.count(), kPiece, 0.0, add, std::plus<>()));
  });
}

// The differences of runs below each other, as float64.
Datum stacked(const Samples& first, uint32_t runs) {
  const uint64_t count = first.nominal.tensor().count();
  std::vector<std::byte> bytes(runs * count * sizeof(double));
  auto* const to = reinterpret_cast<double*>(bytes.data());
  for (uint32_t run = 0; run < runs; ++run) {
    const Tensor& tensor = first.moved[run].tensor();
    parallel_for(count, kPiece, [&](uint64_t begin, uint64_t end) {
      tensor::load(tensor.dtype(), tensor.bytes(), begin, std::span(to + run * count + begin, end - begin));
    });
  }
  tensor::Shape shape = first.nominal.tensor().shape();
  shape[0] *= runs;
  return {Tensor(DType::float64, std::move(shape), tensor::make_owned(std::move(bytes))), first.nominal.declared()};
}

}  // namespace

bool is_product_of_rows(const ir::Model& model, ir::NodeId node) {
  const ops::Traits& traits = ops::traits(model, node);
  const bool is_matmul = traits.product == ops::ProductKind::matrices && !traits.has_bias;
  return is_matmul || traits.product == ops::ProductKind::convolution;
}

std::vector<double> product_squares(const std::vector<Datum>& inputs, const Datum& exact, const ProductMoves& moves,
                                    const Evaluate& evaluate) {
  const double of_data = scale_of(inputs[0]), of_weights = scale_of(inputs[1]);
  const std::array<double, 3> scales = {of_data, of_weights, of_data * of_weights};
  std::vector<Datum> squares;
  for (size_t i = 0; i < inputs.size(); ++i) {
    squares.push_back(inputs[i].is_tensor() ? squared(inputs[i], scales[i]) : Datum());
  }
  const ops::FloatProducts floats;
  std::vector<double> moved = tensor::load_elements<double>(evaluate(squares).tensor());
  // Evenly distributed: a third of the square of the amplitude; both factors of each product are moved.
  const Rounding& rounding = moves.rounding;
  const double third = moves.unit * moves.unit / 3;
  const double of_products =
      (2 * rounding.inputs * rounding.inputs * third + moves.of_operands) / (scales[2] * scales[2]);
  const double of_results = rounding.output * rounding.output * third;
  const std::vector<double> results = tensor::load_elements<double>(exact.tensor());
  parallel_for(moved.size(), kPiece, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) moved[i] = of_products * moved[i] + of_results * results[i] * results[i];
  });
  return moved;
}

std::optional<std::vector<Datum>> moved_products(const Samples& first, uint32_t runs, const Datum& exact,
                                                 const Evaluate& evaluate) {
  if (first.is_same()) return std::vector<Datum>(runs, exact);
  if (!are_small(first, runs)) return std::nullopt;
  const ops::FloatProducts floats;
  const Datum all = evaluate({stacked(first, runs)});
  const uint64_t count = exact.tensor().count();
  if (all.tensor().count() != runs * count) return std::nullopt;
  const auto* const from = reinterpret_cast<const double*>(exact.tensor().bytes().data());
  const auto* const by = reinterpret_cast<const double*>(all.tensor().bytes().data());
  std::vector<Datum> results;
  for (uint32_t run = 0; run < runs; ++run) {
    std::vector<std::byte> bytes(count * sizeof(double));
    auto* const to = reinterpret_cast<double*>(bytes.data());
    parallel_for(count, kPiece, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) to[i] = from[i] + by[run * count + i];
    });
    results.push_back(
        {Tensor(DType::float64, exact.tensor().shape(), tensor::make_owned(std::move(bytes))), exact.declared()});
  }
  return results;
}

}  // namespace assay::analysis
