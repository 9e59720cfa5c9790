#include "passes/constants.h"

#include <cmath>

#include "tensor/casts.h"
#include "tensor/elements.h"

namespace assay::passes {
namespace {

constexpr uint64_t kMostIntegers = 4096;

}  // namespace

std::optional<std::vector<int64_t>> integers_of(PassRun& run, ir::ValueId value) {
  const tensor::Tensor* tensor = run.constant(value);
  if (!tensor || !tensor::is_integer(tensor->dtype()) || tensor->count() > kMostIntegers) return std::nullopt;
  return tensor::load_elements<int64_t>(*tensor);
}

std::optional<int64_t> integer_of(PassRun& run, ir::ValueId value) {
  const tensor::Tensor* tensor = run.constant(value);
  if (!tensor || tensor->count() != 1) return std::nullopt;
  if (!tensor::is_integer(tensor->dtype()) && tensor->dtype() != tensor::DType::boolean) return std::nullopt;
  return tensor::load_elements<int64_t>(*tensor).front();
}

std::optional<std::vector<int64_t>> integers_of(PassRun& run, const ops::Node& node, uint32_t operand_index,
                                                std::string_view attribute, int64_t since) {
  if (node.version() < since) {
    return node.has_attribute(attribute) ? std::optional(node.integers(attribute)) : std::nullopt;
  }
  const std::span<const ir::Use> operands = node.ir_node().operands;
  return operand_index < operands.size() ? integers_of(run, operands[operand_index].value) : std::nullopt;
}

bool is_filled_with(const tensor::Tensor& tensor, double number) {
  const tensor::DTypeKind kind = tensor::kind(tensor.dtype());
  if (kind == tensor::DTypeKind::none || kind == tensor::DTypeKind::complex || kind == tensor::DTypeKind::string) {
    return false;
  }
  constexpr uint64_t kPiece = 1024;
  std::vector<double> piece(kPiece);
  const tensor::Bytes bytes = tensor.bytes();
  for (uint64_t at = 0; at < tensor.count(); at += kPiece) {
    const std::span<double> part = std::span(piece).first(std::min(kPiece, tensor.count() - at));
    tensor::load(tensor.dtype(), bytes, at, part);
    for (const double element : part) {
      if (element != number || std::signbit(element) != std::signbit(number)) return false;
    }
  }
  return true;
}

tensor::Tensor integer_tensor(const std::vector<int64_t>& elements) {
  return tensor::make_tensor<int64_t>(tensor::DType::int64, {static_cast<int64_t>(elements.size())}, elements);
}

ir::Attribute integers_attribute(PassRun& run, std::string_view name, const std::vector<int64_t>& items) {
  return ir::Attribute::list(run.edit().intern(name), ir::AttributeType::integers,
                             run.model().arena().copy<int64_t>(items));
}

}  // namespace assay::passes
