#include "engine/layers/compressed_product.h"

#include <algorithm>
#include <utility>

#include "engine/layers/graph_reader.h"

namespace assay::engine {
namespace {

using tensor::DType;

constexpr std::string_view kMicrosoft = "com.microsoft";

class Matcher : GraphReader {
 public:
  Matcher(const ir::Model& model, const ops::Inference& inference, const ConstantOf& constant)
      : GraphReader(model, inference, constant) {}

  std::optional<CompressedProduct> match(std::span<const ir::NodeId> nodes) {
    if (nodes.size() == 1 && is(nodes[0], "MatMulNBits", kMicrosoft)) return match_n_bits(nodes[0]);
    if (nodes.size() < 2 || nodes.size() > kMostCompressedNodes || !is(nodes[0], "DequantizeLinear")) return {};
    const ir::NodeId product = nodes.back();
    if (!set_product(product) || operand(product, 1) != result(nodes[nodes.size() - 2])) return {};
    bool is_turned = is(product, "Gemm") && facts(product).flag("transB");
    if (nodes.size() == kMostCompressedNodes) {
      if (!is_turn(nodes[1]) || operand(nodes[1], 0) != result(nodes[0])) return {};
      is_turned = !is_turned;
    }
    return set_codes(nodes[0], is_turned) && has_room_for_bias() ? std::optional(found_) : std::nullopt;
  }

 private:
  bool is_turn(ir::NodeId id) const {
    const std::vector<int64_t> order = is(id, "Transpose") ? facts(id).integers("perm") : std::vector<int64_t>{0, 1};
    return order.empty() || order == std::vector<int64_t>{1, 0};
  }

  // A MatMul or Gemm whose left operand has rows.
  bool set_product(ir::NodeId product) {
    const bool is_gemm = is(product, "Gemm");
    if (!is_gemm && !is(product, "MatMul")) return false;
    if (is_gemm) {
      const ops::Node gemm = facts(product);
      const bool is_simple = gemm.floating("alpha", 1) == 1 && gemm.floating("beta", 1) == 1 && !gemm.flag("transA");
      if (!is_simple) return false;
      found_.bias = operand(product, 2);
    }
    return set_data(operand(product, 0));
  }
  bool set_data(ir::ValueId data) {
    const std::optional<TensorDesc> desc = find_desc(model_, inference_, data);
    found_.data = data;
    return desc && desc->dtype == found_.dtype && desc->dims.size() >= 2 && desc->count() > 0;
  }
  bool has_room_for_bias() const {
    if (!found_.bias.valid()) return true;
    const std::optional<TensorDesc> desc = find_desc(model_, inference_, found_.bias);
    return desc && desc->dtype == found_.dtype && !desc->dims.empty() && desc->dims.back() == found_.columns &&
           desc->count() == found_.columns;
  }

  bool set_codes(ir::NodeId id, bool is_turned) {
    found_.codes = operand(id, 0);
    const tensor::Tensor* const codes = constant(found_.codes);
    const tensor::Tensor* const scales = constant(operand(id, 1));
    if (codes == nullptr || scales == nullptr || codes->shape().size() != 2 || codes->count() == 0) return false;
    if (scales->dtype() != DType::float32 || desc_of(result(id)).dtype != DType::float32 || !set_type(codes->dtype()))
      return false;
    found_.depth = codes->shape()[is_turned ? 1 : 0];
    found_.columns = codes->shape()[is_turned ? 0 : 1];
    std::tie(found_.row, found_.column) =
        is_turned ? std::pair<int64_t, int64_t>(1, found_.depth) : std::pair<int64_t, int64_t>(found_.columns, 1);
    return set_blocks(id, *scales, is_turned) && set_zeros(operand(id, 2), codes->dtype(), scales->shape());
  }
  bool set_type(DType dtype) {
    found_.bits = tensor::bit_width(dtype);
    found_.is_signed = dtype == DType::int8 || dtype == DType::int4;
    return found_.is_signed || dtype == DType::uint8 || dtype == DType::uint4;
  }
  // One scale for all, for each column, or for each block of rows of a column.
  bool set_blocks(ir::NodeId id, const tensor::Tensor& scales, bool is_turned) {
    const int64_t axis = ops::normalize_axis(facts(id).integer("axis", 1), 2);
    const int64_t block = facts(id).integer("block_size", 0);
    const bool is_of_columns = (axis == 0) == is_turned;
    found_.scales.value = operand(id, 1);
    found_.block = block == 0 ? found_.depth : block;
    if (block == 0) {
      found_.scales.column = scales.count() == 1 ? 0 : 1;
      return scales.count() == 1 || (is_of_columns && static_cast<int64_t>(scales.count()) == found_.columns);
    }
    if (is_of_columns || scales.shape().size() != 2) return false;
    const int64_t blocks = (found_.depth + block - 1) / block;
    const tensor::Shape wanted =
        is_turned ? tensor::Shape{found_.columns, blocks} : tensor::Shape{blocks, found_.columns};
    std::tie(found_.scales.block, found_.scales.column) =
        is_turned ? std::pair<int64_t, int64_t>(1, blocks) : std::pair<int64_t, int64_t>(found_.columns, 1);
    return scales.shape() == wanted;
  }
  bool set_zeros(ir::ValueId value, DType dtype, const tensor::Shape& shape) {
    if (!value.valid()) return true;
    const tensor::Tensor* const zeros = constant(value);
    found_.zeros = found_.scales;
    found_.zeros.value = value;
    return zeros != nullptr && zeros->dtype() == dtype && zeros->shape() == shape;
  }

  std::optional<CompressedProduct> match_n_bits(ir::NodeId id) {
    const ops::Node node = facts(id);
    found_.depth = node.integer("K");
    found_.columns = node.integer("N");
    found_.block = node.integer("block_size");
    found_.bits = static_cast<int>(node.integer("bits", 4));
    const bool has_known_bits = found_.bits == 4 || found_.bits == 8;
    if (desc_of(operand(id, 0)).dtype == DType::float16) found_.dtype = DType::float16;
    if (!has_known_bits || found_.block < 1 || operand(id, 4).valid() || !set_data(operand(id, 0))) return {};
    const int64_t blocks = (found_.depth + found_.block - 1) / found_.block;
    found_.codes = operand(id, 1);
    found_.bias = operand(id, 5);
    found_.row = 1;
    found_.column = blocks * found_.block;
    found_.scales = {operand(id, 2), 1, blocks};
    found_.zero = static_cast<float>(1 << (found_.bits - 1));
    const tensor::Tensor* const codes = constant(found_.codes);
    const tensor::Tensor* const scales = constant(found_.scales.value);
    if (codes == nullptr || scales == nullptr || scales->dtype() != found_.dtype) return {};
    const bool has_all = static_cast<int64_t>(codes->count()) * (8 / found_.bits) == found_.columns * found_.column &&
                         static_cast<int64_t>(scales->count()) == found_.columns * blocks;
    return has_all && set_packed_zeros(operand(id, 3), blocks) && has_room_for_bias() ? std::optional(found_)
                                                                                      : std::nullopt;
  }
  // Sets the zero points; those of a column begin at a byte.
  bool set_packed_zeros(ir::ValueId value, int64_t blocks) {
    if (!value.valid()) return true;
    const tensor::Tensor* const zeros = constant(value);
    if (zeros == nullptr || (zeros->dtype() != DType::uint8 && zeros->dtype() != found_.dtype)) return false;
    found_.are_zeros_floats = zeros->dtype() != DType::uint8;
    const int64_t by_byte = found_.are_zeros_floats ? 1 : 8 / found_.bits;
    const int64_t of_column = (blocks + by_byte - 1) / by_byte;
    found_.zeros = {value, 1, of_column * by_byte};
    return static_cast<int64_t>(zeros->count()) == found_.columns * of_column;
  }

  CompressedProduct found_;
};

}  // namespace

std::optional<CompressedProduct> match_compressed(const ir::Model& model, const ops::Inference& inference,
                                                  std::span<const ir::NodeId> nodes, const ConstantOf& constant) {
  return Matcher(model, inference, constant).match(nodes);
}

std::optional<CompressedForm> find_compressed(const Layer& layer) {
  const ConstantOf constant = layer.constants_by_value();
  const size_t most = std::min(kMostCompressedNodes, layer.nodes.size());
  for (size_t nodes = 1; nodes <= most; ++nodes) {
    const auto found = match_compressed(*layer.model, *layer.inference, std::span(layer.nodes).first(nodes), constant);
    if (found) return CompressedForm{*found, nodes};
  }
  return std::nullopt;
}

}  // namespace assay::engine
