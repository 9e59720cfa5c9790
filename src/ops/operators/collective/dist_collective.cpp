#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/parallel.h"
#include "base/text.h"
#include "ops/operator.h"
#include "ops/ranks.h"

namespace assay::ops {
namespace {

constexpr uint64_t kReducedAtATime = 16384;  // elements

// The number of ranks that take part; nullopt: as many as run.
std::optional<int64_t> written_count(const Node& node) {
  const int64_t size = node.integer("group_size", 0);
  if (size > 0) return size;
  const auto listed = static_cast<int64_t>(node.integers("groups").size());
  if (listed > 0) return listed;
  const int64_t all = node.integer("nb_rank", 1);
  return all > 1 ? std::optional(all) : std::nullopt;
}

void check_words(const Node& node) {
  static constexpr std::array<std::string_view, 8> kOperations = {
      "all_reduce", "all_gather", "broadcast", "reduce", "reduce_scatter", "all_to_all", "gather", "scatter"};
  static constexpr std::array<std::string_view, 5> kReductions = {"sum", "prod", "min", "max", "avg"};
  const std::string_view operation = node.string("collective_operation");
  if (std::ranges::find(kOperations, operation) == kOperations.end())
    fail(ErrorCode::shape, "`{}` is no collective; expected one of {}", printable(operation),
         fmt::join(kOperations, ", "));
  const std::string_view reduction = node.string("reduce_op", "none");
  const bool reduces = operation.find("reduce") != std::string_view::npos;
  if (reduces && std::ranges::find(kReductions, reduction) == kReductions.end())
    fail(ErrorCode::shape, "{} by `{}`; expected one of {}", operation, printable(reduction),
         fmt::join(kReductions, ", "));
}

void infer_dist_collective(Infer& node) {
  if (node.input_count() != 1 || !node.has(0) || node.output_count() != 1 || !node.wants(0))
    fail(ErrorCode::shape, "expected one input and one output");
  const Type& type = node.type(0);
  if (type.known && (!type.is_tensor() || type.dtype == DType::string))
    fail(ErrorCode::shape, "expected a tensor of numbers");
  check_words(node);
  node.set_dtype(0, node.dtype(0));
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  const std::string_view operation = node.string("collective_operation");
  const bool joins = operation == "all_gather" || operation == "gather";
  const bool divides = operation == "reduce_scatter" || operation == "scatter";
  const std::optional<int64_t> count = written_count(node);
  const bool works_along = joins || divides || operation == "all_to_all";
  if (works_along) {
    if (dims.empty()) fail(ErrorCode::shape, "{} works along the first dim, and the operand has none", operation);
    if (!joins && count && dims[0].is_number() && *dims[0].number() % *count != 0)
      fail(ErrorCode::shape, "{} ranks cannot share a first dim of {} evenly", *count, dims[0].text());
    if (joins) dims[0] = count ? dims[0] * Dim(*count) : Dim();
    if (divides) dims[0] = count ? floor_div(dims[0], *count) : Dim();
  }
  node.set_dims(0, std::move(dims));
}

template <typename C>
C reduced(std::string_view reduction, C a, C b) {
  if (reduction == "prod") return a * b;
  if (reduction == "min") return std::min(a, b);
  if (reduction == "max") return std::max(a, b);
  return a + b;
}

// Elements [begin, end) of all parts, reduced in the order of ranks.
template <typename C>
std::vector<C> reduced(std::string_view reduction, std::span<const Tensor> parts, uint64_t begin, uint64_t end) {
  std::vector<C> sum(end - begin);
  parallel_for(sum.size(), kReducedAtATime, [&](uint64_t from, uint64_t to) {
    std::vector<C> other(to - from);
    const std::span<C> own(sum.data() + from, to - from);
    tensor::load(parts[0].dtype(), parts[0].bytes(), begin + from, own);
    for (size_t part = 1; part < parts.size(); ++part) {
      tensor::load(parts[part].dtype(), parts[part].bytes(), begin + from, std::span<C>(other));
      for (size_t i = 0; i < other.size(); ++i) own[i] = reduced(reduction, own[i], other[i]);
    }
    if (reduction != "avg") return;
    for (C& element : own) element /= static_cast<C>(parts.size());
  });
  return sum;
}

Tensor joined(std::span<const Tensor> parts, std::span<const Piece> pieces, const Shape& shape) {
  const uint64_t bits = tensor::bit_width(parts[0].dtype());
  if (bits % 8 != 0) fail(ErrorCode::unsupported, "elements of {} bits are not moved between ranks", bits);
  std::vector<std::byte> bytes;
  for (const Piece& piece : pieces) {
    const tensor::Bytes run = parts[piece.part].bytes().subspan(piece.begin * bits / 8, piece.count * bits / 8);
    bytes.insert(bytes.end(), run.begin(), run.end());
  }
  return Tensor(parts[0].dtype(), shape, tensor::make_owned(std::move(bytes)));
}

// The shape of what is made: only the first dim may differ.
Shape made_shape(const Shape& operand, const Collective& collective) {
  Shape shape = operand;
  const auto members = static_cast<int64_t>(collective.members.size());
  if (collective.operation == "all_gather" || collective.operation == "gather") shape[0] *= members;
  if (collective.operation == "reduce_scatter" || collective.operation == "scatter") shape[0] /= members;
  return shape;
}

void eval_dist_collective(Eval& node) {
  if (!node.datum(0).is_tensor()) fail(ErrorCode::shape, "expected a tensor of numbers");
  Ranks& ranks = current_ranks();
  const Tensor& operand = node.tensor_in(0);
  const Collective collective = collective_of(node, operand.dtype(), operand.shape(), ranks);
  const Combination combination = combination_of(collective, ranks.rank(), operand.count());
  const Shape shape = made_shape(operand.shape(), collective);
  ranks.meet(collective, operand, [&](std::span<const Tensor> parts) {
    if (!combination.reduces) return node.set_tensor(0, joined(parts, combination.pieces, shape));
    const Piece& own = combination.pieces.front();
    with_carrier(operand.dtype(), [&](auto zero) {
      using C = decltype(zero);
      node.store(0, shape, reduced<C>(collective.reduction, parts, own.begin, own.begin + own.count));
    });
  });
}

}  // namespace

// TensorRT's operator, which it expects in ONNX's own domain. Of `reduce` and `gather` each rank gets what the root
// gets.
OperatorRows operator_collective_dist_collective() {
  static constexpr Operator kRows[] = {
      {.name = "DistCollective",
       .traits = {Nature::unknown, {.rounding = RoundingClass::continuous}},
       .infer = infer_dist_collective,
       .eval = eval_dist_collective,
       .is_random = true},
  };
  return kRows;
}

}  // namespace assay::ops
