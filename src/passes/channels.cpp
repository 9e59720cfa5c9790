#include "passes/channels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/parallel.h"
#include "ir/queries.h"
#include "passes/merge_options.h"
#include "tensor/casts.h"
#include "tensor/derived.h"
#include "tensor/elements.h"

namespace assay::passes {
namespace {

using ir::NodeId;
using tensor::DType;
using tensor::Tensor;

bool is_mergeable(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float16 || dtype == DType::bfloat16 || dtype == DType::float64;
}

bool are_finite(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
}

// A constant with these dims of a type that is merged.
const Tensor* constant_of_rank(PassRun& run, ir::ValueId value, size_t least, size_t most) {
  const Tensor* tensor = run.constant(value);
  if (!tensor || !is_mergeable(tensor->dtype())) return nullptr;
  return tensor->shape().size() >= least && tensor->shape().size() <= most ? tensor : nullptr;
}

std::optional<std::vector<double>> channel_numbers(PassRun& run, ir::ValueId value, uint64_t channels) {
  const Tensor* tensor = constant_of_rank(run, value, 1, 1);
  if (!tensor || tensor->count() != channels) return std::nullopt;
  return tensor::load_elements<double>(*tensor);
}

// Weights and bias; false where they are not there, constant and of one type.
bool take_constants(PassRun& run, Weighted& weighted, size_t least_rank, size_t most_rank) {
  const ir::Model& model = run.model();
  weighted.weights = constant_of_rank(run, operand(model, weighted.node, 1), least_rank, most_rank);
  if (!weighted.weights || weighted.weights->count() == 0) return false;
  weighted.group_size = weighted.weights->count();
  const ir::ValueId bias = operand(model, weighted.node, 2);
  if (!bias) return true;
  weighted.bias = run.constant(bias);
  return weighted.bias && weighted.bias->dtype() == weighted.weights->dtype();
}

// The numbers of a constant that is combined with a value of this rank, one for each channel.
std::optional<std::vector<double>> channel_constant(PassRun& run, ir::ValueId value, size_t rank, uint64_t channels) {
  const Tensor* tensor = constant_of_rank(run, value, 0, rank);
  if (!tensor) return std::nullopt;
  const tensor::Shape& shape = tensor->shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool is_channel_axis = rank - shape.size() + i == 1;
    if (shape[i] != 1 && !(is_channel_axis && static_cast<uint64_t>(shape[i]) == channels)) return std::nullopt;
  }
  std::vector<double> numbers = tensor::load_elements<double>(*tensor);
  if (numbers.size() == 1) numbers.assign(channels, numbers.front());
  return are_finite(numbers) ? std::optional(std::move(numbers)) : std::nullopt;
}

// A tensor of which each element is multiplied by the factor of its neighbours.
struct Scaling {
  static constexpr uint64_t kPiece = 4096;

  Tensor tensor;
  uint64_t neighbours = 1;
  std::function<double(uint64_t index)> factor;

  // Calls run(begin, end, factor) for the elements that have one.
  template <typename Fn>
  void for_runs(uint64_t begin, uint64_t end, Fn&& run) const {
    for (uint64_t i = begin, last = 0; i < end; i = last) {
      last = std::min(end, (i / neighbours + 1) * neighbours);
      run(i, last, factor(i));
    }
  }
  template <typename Fn>
  bool for_pieces(Fn&& put_piece) const;
  uint64_t element_bytes() const { return tensor::bit_width(tensor.dtype()) / 8; }
  bool put(uint64_t begin, uint64_t end, std::span<std::byte> out) const;
  bool put_floats(uint64_t begin, uint64_t end, std::span<std::byte> out) const;
  bool are_finite() const;
  bool fill(std::span<std::byte> bytes) const;
};

// Writes a piece, as the type rounds it; false: some numbers leave its range.
bool Scaling::put(uint64_t begin, uint64_t end, std::span<std::byte> out) const {
  if (tensor.dtype() == DType::float32) return put_floats(begin, end, out);
  std::vector<double> piece(end - begin);
  tensor::load(tensor.dtype(), tensor.bytes(), begin, piece);
  for_runs(begin, end, [&](uint64_t first, uint64_t last, double number) {
    for (uint64_t k = first; k < last; ++k) piece[k - begin] *= number;
  });
  tensor::store(tensor.dtype(), std::span<const double>(piece), 0, out);
  tensor::load(tensor.dtype(), out, 0, piece);
  return passes::are_finite(piece);
}

bool Scaling::put_floats(uint64_t begin, uint64_t end, std::span<std::byte> out) const {
  const std::byte* const from = tensor.bytes().data() + begin * sizeof(float);
  bool are_finite = true;
  for_runs(begin, end, [&](uint64_t first, uint64_t last, double number) {
    for (uint64_t k = first - begin; k < last - begin; ++k) {
      float element = 0;
      std::memcpy(&element, from + k * sizeof(element), sizeof(element));  // wherever the file has it
      element = static_cast<float>(double{element} * number);
      are_finite &= std::isfinite(element);
      std::memcpy(out.data() + k * sizeof(element), &element, sizeof(element));
    }
  });
  return are_finite;
}

// Passes the elements on piece by piece; the tensor that they are made of is read once, and needs no memory afterwards.
template <typename Fn>
bool Scaling::for_pieces(Fn&& put_piece) const {
  const uint64_t overflows = parallel_reduce(
      tensor.count(), kPiece, uint64_t{0},
      [&](uint64_t begin, uint64_t end) { return uint64_t{put_piece(begin, end) ? 0u : 1u}; },
      [](uint64_t a, uint64_t b) { return a + b; });
  tensor.storage()->release();
  return overflows == 0;
}

bool Scaling::are_finite() const {
  return for_pieces([&](uint64_t begin, uint64_t end) {
    std::vector<std::byte> made((end - begin) * element_bytes());
    return put(begin, end, made);
  });
}

// False: some numbers leave the range of the type.
bool Scaling::fill(std::span<std::byte> bytes) const {
  return for_pieces([&](uint64_t begin, uint64_t end) {
    return put(begin, end, bytes.subspan(begin * element_bytes(), (end - begin) * element_bytes()));
  });
}

std::vector<ir::Attribute> attributes_behind(const ir::Model& model, NodeId node) {
  std::vector<ir::Attribute> attributes;
  for (const ir::Attribute& attribute : model[node].attributes) {
    if (model.text(attribute.name()) != "beta") attributes.push_back(attribute);
  }
  return attributes;
}

}  // namespace

std::optional<ChannelAffine> batch_normalization(PassRun& run, NodeId node) {
  if (!run.is_op(node, "BatchNormalization") || has_references(run.model()[node])) return std::nullopt;
  const ops::Node facts = run.facts(node);
  const bool is_inference = facts.version() >= 7 && !facts.flag("training_mode") && facts.integer("spatial", 1) != 0;
  const Tensor* first = constant_of_rank(run, operand(run.model(), node, 1), 1, 1);
  if (!is_inference || run.model()[node].results.size() != 1 || !first) return std::nullopt;
  std::vector<std::vector<double>> numbers;
  for (uint32_t i = 1; i < 5; ++i) {
    std::optional<std::vector<double>> found = channel_numbers(run, operand(run.model(), node, i), first->count());
    if (!found) return std::nullopt;
    numbers.push_back(std::move(*found));
  }
  ChannelAffine affine;
  const double epsilon = facts.floating("epsilon");
  for (size_t c = 0; c < numbers[0].size(); ++c) {
    affine.scale.push_back(numbers[0][c] / std::sqrt(numbers[3][c] + epsilon));
    affine.shift.push_back(numbers[1][c] - numbers[2][c] * affine.scale[c]);
  }
  return are_finite(affine.scale) && are_finite(affine.shift) ? std::optional(affine) : std::nullopt;
}

std::optional<Weighted> find_convolution(PassRun& run, NodeId node) {
  const ir::Model& model = run.model();
  if (!node || has_references(model[node])) return std::nullopt;
  const bool is_transposed = run.is_op(node, "ConvTranspose");
  Weighted found{.node = node};
  if ((!is_transposed && !run.is_op(node, "Conv")) || !take_constants(run, found, 3, SIZE_MAX)) return std::nullopt;
  const tensor::Shape& shape = found.weights->shape();
  const int64_t groups = run.facts(node).integer("group", 1);
  if (groups < 1 || groups > shape[0] || shape[0] % groups != 0) return std::nullopt;
  const uint64_t columns = found.weights->count() / static_cast<uint64_t>(shape[0]);
  if (is_transposed) {
    found.per_group = static_cast<uint64_t>(shape[1]);
    found.channels = found.per_group * static_cast<uint64_t>(groups);
    found.inner = columns / found.per_group;
    found.group_size = found.weights->count() / static_cast<uint64_t>(groups);
  } else {
    found.per_group = found.channels = static_cast<uint64_t>(shape[0]);
    found.inner = columns;
  }
  return found;
}

std::optional<Weighted> find_matrix_product(PassRun& run, NodeId node) {
  const ir::Model& model = run.model();
  if (!node || has_references(model[node])) return std::nullopt;
  const bool is_gemm = run.is_op(node, "Gemm");
  Weighted found{.node = node};
  if ((!is_gemm && !run.is_op(node, "MatMul")) || !take_constants(run, found, 2, 2)) return std::nullopt;
  const ops::Node facts = run.facts(node);
  if (facts.version() < 7) return std::nullopt;
  const bool is_transposed = is_gemm && facts.flag("transB");
  const tensor::Shape& shape = found.weights->shape();
  found.channels = found.per_group = static_cast<uint64_t>(shape[is_transposed ? 0 : 1]);
  found.inner = is_transposed ? static_cast<uint64_t>(shape[1]) : 1;
  if (is_gemm) found.bias_factor = facts.floating("beta", 1.0);
  return found;
}

std::optional<ChannelAffine> channel_arithmetic(PassRun& run, NodeId node, const Weighted& convolution) {
  const ir::Model& model = run.model();
  const ir::ValueId x = result(model, convolution.node);
  const bool is_first = operand(model, node, 0) == x;
  if (run.facts(node).version() < 7 || model[node].operands.size() != 2) return std::nullopt;
  const std::optional<std::vector<double>> numbers = channel_constant(
      run, operand(model, node, is_first ? 1 : 0), convolution.weights->shape().size(), convolution.channels);
  if (!numbers) return std::nullopt;
  const std::string_view op = run.facts(node).op();
  ChannelAffine affine{std::vector<double>(numbers->size(), 1.0), std::vector<double>(numbers->size(), 0.0)};
  for (size_t c = 0; c < numbers->size(); ++c) {
    const double number = (*numbers)[c];
    if (op == "Add") {
      affine.shift[c] = number;
    } else if (op == "Sub") {
      affine.shift[c] = is_first ? -number : number;
      affine.scale[c] = is_first ? 1.0 : -1.0;
    } else if (op == "Mul") {
      affine.scale[c] = number;
    } else if (op == "Div") {
      affine.scale[c] = is_first ? 1.0 / number : NAN;
    } else {
      return std::nullopt;
    }
  }
  return are_finite(affine.scale) ? std::optional(affine) : std::nullopt;
}

std::optional<Tensor> scaled(PassRun& run, const Tensor& tensor, uint64_t neighbours,
                             std::function<double(uint64_t index)> factor) {
  constexpr uint64_t kLargeBytes = 1 << 16;
  const Scaling scaling{tensor, neighbours, std::move(factor)};
  const uint64_t size = tensor.count() * scaling.element_bytes();
  if (size >= kLargeBytes && run.options().get<MergeOptions>().derives_weights) {
    if (!scaling.are_finite()) return std::nullopt;
    const auto fill = [scaling](std::span<std::byte> bytes) { scaling.fill(bytes); };
    return Tensor(tensor.dtype(), tensor.shape(), tensor::make_derived(size, fill));
  }
  std::vector<std::byte> bytes(size);
  if (!scaling.fill(bytes)) return std::nullopt;
  return Tensor(tensor.dtype(), tensor.shape(), tensor::make_owned(std::move(bytes)));
}

std::optional<Tensor> rounded(DType dtype, const std::vector<double>& elements) {
  std::vector<std::byte> bytes(tensor::packed_bytes(dtype, elements.size()).value());
  tensor::store(dtype, std::span<const double>(elements), 0, bytes);
  Tensor result(dtype, {static_cast<int64_t>(elements.size())}, tensor::make_owned(std::move(bytes)));
  return are_finite(tensor::load_elements<double>(result)) ? std::optional(result) : std::nullopt;
}

std::optional<std::vector<double>> bias_of(const Weighted& weighted) {
  std::vector<double> numbers(weighted.channels, 0.0);
  if (!weighted.bias) return numbers;
  const tensor::Shape& shape = weighted.bias->shape();
  const bool is_row = weighted.bias->count() == weighted.channels && !shape.empty() &&
                      static_cast<uint64_t>(shape.back()) == weighted.channels;
  if (!is_row && weighted.bias->count() != 1) return std::nullopt;
  const std::vector<double> given = tensor::load_elements<double>(*weighted.bias);
  for (size_t c = 0; c < numbers.size(); ++c) numbers[c] = given[is_row ? c : 0] * weighted.bias_factor;
  return numbers;
}

void fold_behind(PassRun& run, const Weighted& weighted, NodeId behind, const ChannelAffine& affine) {
  const ir::Model& model = run.model();
  std::optional<std::vector<double>> bias = bias_of(weighted);
  if (!bias || affine.scale.size() != weighted.channels) return;
  for (size_t c = 0; c < bias->size(); ++c) (*bias)[c] = (*bias)[c] * affine.scale[c] + affine.shift[c];
  const std::optional<Tensor> weights =
      scaled(run, *weighted.weights, weighted.inner,
             [weighted, scale = affine.scale](uint64_t index) { return scale[weighted.channel(index)]; });
  const std::optional<Tensor> added = rounded(weighted.weights->dtype(), *bias);
  if (!weights || !added) return run.skip(behind, "merged weights would leave the range of their type");
  const std::string_view op = model.text(model[weighted.node].op);
  ir::Patch patch;
  const ir::PatchValue first = patch.add_constant(*weights);
  const ir::PatchValue second = patch.add_constant(*added);
  const ir::PatchValue merged = patch.add({.op = op == "MatMul" ? "Gemm" : op,
                                           .name = model[weighted.node].name,
                                           .operands = {operand(model, weighted.node, 0), first, second},
                                           .attributes = attributes_behind(model, weighted.node)});
  patch.replace(result(model, behind), merged);
  patch.remove(behind);
  patch.remove(weighted.node);
  run.rewriter().commit("fuse {0} into {1}", patch);
}

}  // namespace assay::passes
