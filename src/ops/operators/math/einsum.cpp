#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/product/einsum_equation.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint64_t kGrain = 1 << 16;

template <typename AnyNode>
EinsumLabels labels_of(const AnyNode& node) {
  std::vector<int64_t> ranks;
  for (uint32_t i = 0; i < node.input_count(); ++i) ranks.push_back(node.rank(i));
  return einsum_labels(node.string("equation"), ranks);
}

// Dims of one label must be the same or 1.
std::map<EinsumLabel, Dim> label_sizes(const Infer& node, const EinsumLabels& labels) {
  std::map<EinsumLabel, Dim> sizes;
  for (uint32_t i = 0; i < node.input_count(); ++i) {
    for (size_t a = 0; a < labels.inputs[i].size(); ++a) {
      Dim& size = sizes.try_emplace(labels.inputs[i][a], Dim(1)).first->second;
      size = broadcast(std::span(&size, 1), std::span(&node.dims(i)[a], 1)).front();
    }
  }
  return sizes;
}

void infer_einsum(Infer& node) {
  check_einsum(node.string("equation"));
  if (!node.all_ranked()) return;
  const EinsumLabels labels = labels_of(node);
  const std::map<EinsumLabel, Dim> sizes = label_sizes(node, labels);
  Dims dims;
  for (const EinsumLabel label : labels.output) dims.push_back(sizes.at(label));
  node.set_dims(0, std::move(dims));
}

Dim macs_of_einsum(const Infer& node) {
  if (!node.all_ranked()) return {};
  Dim macs = 1;
  for (const auto& [label, size] : label_sizes(node, labels_of(node))) macs = macs * size;
  return macs;
}

// The places in the inputs of labels of the output (outer) and of those summed over (inner).
struct Places {
  std::vector<uint64_t> outer;  // sizes
  std::vector<uint64_t> inner;
  std::vector<std::vector<uint64_t>> outer_strides;  // of each input
  std::vector<std::vector<uint64_t>> inner_strides;
};

std::vector<uint64_t> strides_along(const EinsumTerm& labels, const EinsumTerm& term, const Shape& shape) {
  const std::vector<int64_t> strides = row_major_strides(shape);
  std::vector<uint64_t> result(labels.size(), 0);
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t a = 0; a < term.size(); ++a) {
      if (term[a] == labels[i] && shape[a] != 1) result[i] += static_cast<uint64_t>(strides[a]);
    }
  }
  return result;
}

Places find_places(const Eval& node) {
  const EinsumLabels labels = labels_of(node);
  std::map<EinsumLabel, uint64_t> sizes;
  EinsumTerm summed;
  for (uint32_t i = 0; i < node.input_count(); ++i) {
    for (size_t a = 0; a < labels.inputs[i].size(); ++a) {
      const EinsumLabel label = labels.inputs[i][a];
      const bool is_new = !sizes.contains(label);
      const auto dim = static_cast<uint64_t>(node.shape(i)[a]);
      if (is_new || dim != 1) sizes[label] = dim;
      if (is_new && std::ranges::count(labels.output, label) == 0) summed.push_back(label);
    }
  }
  Places places;
  for (const EinsumLabel label : labels.output) places.outer.push_back(sizes[label]);
  for (const EinsumLabel label : summed) places.inner.push_back(sizes[label]);
  for (uint32_t i = 0; i < node.input_count(); ++i) {
    places.outer_strides.push_back(strides_along(labels.output, labels.inputs[i], node.shape(i)));
    places.inner_strides.push_back(strides_along(summed, labels.inputs[i], node.shape(i)));
  }
  return places;
}

uint64_t offset_of(uint64_t place, std::span<const uint64_t> sizes, std::span<const uint64_t> strides) {
  uint64_t offset = 0;
  for (size_t i = sizes.size(); i-- > 0;) {
    offset += place % sizes[i] * strides[i];
    place /= sizes[i];
  }
  return offset;
}

// Elements of the output one by one: sums, the last label running fastest, of the products of all inputs.
template <typename C>
class Summation {
 public:
  Summation(const Places& places, const std::vector<std::vector<C>>& data)
      : places_(places), data_(data), at_(data.size()) {
    if (places.inner.empty()) return;
    row_ = places.inner.back();
    for (size_t i = 0; i + 1 < places.inner.size(); ++i) rows_ *= places.inner[i];
  }

  C element(uint64_t place) {
    C sum = 0;
    for (uint64_t r = 0; r < rows_ && row_ != 0; ++r) {
      for (size_t i = 0; i < data_.size(); ++i) {
        at_[i] = data_[i].data() + offset_of(place, places_.outer, places_.outer_strides[i]) +
                 offset_of(r * row_, places_.inner, places_.inner_strides[i]);
      }
      sum = add_row(sum);
    }
    return sum;
  }

 private:
  C add_row(C sum) const {
    for (uint64_t k = 0; k < row_; ++k) {
      C product = at_[0][k * step(0)];
      for (size_t i = 1; i < at_.size(); ++i) product = wrapping_multiply(product, at_[i][k * step(i)]);
      sum = wrapping_add(sum, product);
    }
    return sum;
  }
  uint64_t step(size_t input) const { return places_.inner.empty() ? 0 : places_.inner_strides[input].back(); }

  const Places& places_;
  const std::vector<std::vector<C>>& data_;
  std::vector<const C*> at_;
  uint64_t row_ = 1;
  uint64_t rows_ = 1;
};

void eval_einsum(Eval& node) {
  const Places places = find_places(node);
  uint64_t terms = 1;
  for (const uint64_t size : places.inner) terms = std::min(terms * std::clamp<uint64_t>(size, 1, kGrain), kGrain);
  with_carrier(node.dtype(0), [&](auto zero) {
    using C = decltype(zero);
    std::vector<std::vector<C>> data;
    for (uint32_t i = 0; i < node.input_count(); ++i) data.push_back(node.load<C>(i));
    std::vector<C> result(node.out_count(0));
    parallel_for(result.size(), std::max<uint64_t>(kGrain / terms, 1), [&](uint64_t begin, uint64_t end) {
      Summation<C> summation(places, data);
      for (uint64_t i = begin; i < end; ++i) result[i] = summation.element(i);
    });
    node.store(0, std::move(result));
  });
}

}  // namespace

OperatorRows operator_math_einsum() {
  static constexpr Operator kRows[] = {
      {.name = "Einsum",
       .traits = {Nature::product, {.product = ProductKind::contraction}},
       .infer = infer_einsum,
       .eval = eval_einsum,
       .macs = macs_of_einsum},
  };
  return kRows;
}

}  // namespace assay::ops
