#include "convert/quantize/nbits_nodes.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/parallel.h"
#include "convert/precision/float_values.h"
#include "convert/quantize/qdq_rules.h"
#include "ir/written.h"
#include "ops/traits.h"
#include "schema/imports.h"

namespace assay::convert {
namespace {

using tensor::DType;
using tensor::Tensor;

Tensor bytes_tensor(std::vector<std::byte> bytes, tensor::Shape shape) {
  return Tensor(DType::uint8, std::move(shape), tensor::make_owned(std::move(bytes)));
}

// Puts an unsigned code of 4 or 8 bits at its place; the first of a byte is in the low bits.
void put(std::byte* bytes, uint64_t index, uint32_t bits, int code) {
  constexpr uint32_t kByte = 8;
  const uint32_t per_byte = kByte / bits;
  const uint32_t shift = static_cast<uint32_t>(index % per_byte) * bits;
  std::byte& target = bytes[index / per_byte];
  const std::byte mask{static_cast<uint8_t>(((1U << bits) - 1) << shift)};
  target = (target & ~mask) | std::byte{static_cast<uint8_t>(static_cast<uint32_t>(code) << shift)};
}

int middle(const Blocks& blocks) { return blocks.asymmetric ? 0 : 1 << (blocks.bits - 1); }

// The matrix of a product. Its rows are summed up, along which the blocks run; it may be stored the other way round.
struct Matrix {
  uint64_t rows;
  uint64_t columns;
  uint64_t blocks;  // in a column
  bool is_transposed;

  uint64_t code_at(uint64_t row, uint64_t column) const {
    return is_transposed ? column * rows + row : row * columns + column;
  }
  uint64_t scale_at(uint64_t block, uint64_t column) const {
    return is_transposed ? column * blocks + block : block * columns + column;
  }
};

Tensor pack_columns(const Matrix& matrix, const Blocks& blocks, const BlockCodes& codes) {
  constexpr uint64_t kGrain = 64;  // columns
  const uint64_t block_bytes = blocks.length * blocks.bits / 8;
  std::vector<std::byte> packed(matrix.columns * matrix.blocks * block_bytes);
  parallel_for(matrix.columns, kGrain, [&](uint64_t begin, uint64_t end) {
    for (uint64_t column = begin; column < end; ++column) {
      std::byte* target = packed.data() + column * matrix.blocks * block_bytes;
      for (uint64_t row = 0; row < matrix.rows; ++row) {
        put(target, row, blocks.bits, codes.codes[matrix.code_at(row, column)] + middle(blocks));
      }
    }
  });
  return bytes_tensor(std::move(packed), {static_cast<int64_t>(matrix.columns), static_cast<int64_t>(matrix.blocks),
                                          static_cast<int64_t>(block_bytes)});
}

Tensor column_scales(const Matrix& matrix, const BlockCodes& codes) {
  std::vector<float> scales(codes.scales.size());
  for (uint64_t i = 0; i < scales.size(); ++i) {
    scales[i] = codes.scales[matrix.scale_at(i % matrix.blocks, i / matrix.blocks)];
  }
  return tensor::make_tensor<float>(DType::float32, {static_cast<int64_t>(scales.size())}, scales);
}

Tensor column_zero_points(const Matrix& matrix, const Blocks& blocks, const BlockCodes& codes) {
  const uint64_t column_bytes = (matrix.blocks * blocks.bits + 7) / 8;
  std::vector<std::byte> packed(matrix.columns * column_bytes);
  for (uint64_t i = 0; i < codes.zero_points.size(); ++i) {
    const uint64_t block = i % matrix.blocks;
    const uint64_t column = i / matrix.blocks;
    put(packed.data() + column * column_bytes, block, blocks.bits, codes.zero_points[matrix.scale_at(block, column)]);
  }
  const int64_t size = static_cast<int64_t>(packed.size());
  return bytes_tensor(std::move(packed), {size});
}

}  // namespace

bool has_nbits_form(const ir::Model& model, ir::NodeId id, const tensor::Shape& weight) {
  const ir::Node& node = model[id];
  const ops::Traits& traits = ops::traits(model, id);
  if (traits.product != ops::ProductKind::matrices) return false;
  if (!traits.has_bias) return true;
  if (ir::written_integer(model, node, "transA").value_or(0) != 0) return false;
  constexpr size_t kBias = 2;
  const ir::ValueId bias = node.operands.size() > kBias ? node.operands[kBias].value : ir::ValueId{};
  if (!bias) return is_one(model, node, "alpha");
  const std::optional<tensor::Tensor> floats = float_constant(model, bias);
  const int64_t columns = weight[*channel_axis(model, id, 1, weight.size())];
  return bias_place(model, id).has_value() && floats && floats->shape() == tensor::Shape{columns};
}

NBitsWeight add_nbits_weight(LinearNodes& nodes, std::string_view base, const tensor::Shape& shape,
                             const Blocks& blocks, const BlockCodes& codes) {
  const uint32_t along = blocks.axis;
  const uint32_t across = 1 - along;
  const Matrix matrix = {static_cast<uint64_t>(shape[along]), static_cast<uint64_t>(shape[across]),
                         static_cast<uint64_t>(codes.shape[along]), along == 1};
  NBitsWeight weight = {.rows = shape[along], .columns = shape[across], .blocks = blocks};
  const auto add = [&](std::string_view suffix, Tensor tensor) {
    weight.size_bytes += tensor.size_bytes();
    return nodes.add_constant(base, suffix, std::move(tensor));
  };
  weight.codes = add("_quantized", pack_columns(matrix, blocks, codes));
  weight.scales = add("_scale", column_scales(matrix, codes));
  if (blocks.asymmetric) weight.zero_points = add("_zero_point", column_zero_points(matrix, blocks, codes));
  return weight;
}

void make_nbits_node(ir::Model& model, ir::Edit& edit, ir::NodeId node, const NBitsWeight& weight) {
  constexpr std::string_view kDomain = "com.microsoft";
  schema::import_domain(model, kDomain);
  constexpr size_t kBias = 2;  // of Gemm
  const std::span<const ir::Use> old = model[node].operands;
  const ir::ValueId bias = old.size() > kBias ? old[kBias].value : ir::ValueId{};
  std::vector<ir::ValueId> operands = {old[0].value, weight.codes, weight.scales};
  if (weight.zero_points || bias) operands.push_back(weight.zero_points);
  if (bias) {
    operands.push_back({});  // an order of groups
    operands.push_back(bias);
  }
  edit.set_op(node, edit.intern("MatMulNBits"), edit.intern(kDomain));
  edit.set_operands(node, operands);
  const std::array attributes = {
      ir::Attribute::of(edit.intern("K"), weight.rows), ir::Attribute::of(edit.intern("N"), weight.columns),
      ir::Attribute::of(edit.intern("bits"), static_cast<int64_t>(weight.blocks.bits)),
      ir::Attribute::of(edit.intern("block_size"), static_cast<int64_t>(weight.blocks.length))};
  edit.set_attributes(node, attributes);
}

}  // namespace assay::convert
