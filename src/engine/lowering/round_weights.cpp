#include "engine/lowering/round_weights.h"

#include <map>

#include "convert/precision/half_kernels.h"
#include "engine/layers/layer.h"
#include "ir/constants.h"
#include "ir/naming.h"
#include "ops/inference.h"
#include "ops/traits.h"
#include "tensor/derived.h"

namespace assay::engine {
namespace {

using tensor::DType;

void round_floats(const tensor::Tensor& floats, std::span<std::byte> to) {
  constexpr uint64_t kPiece = uint64_t{1} << 20;  // elements
  std::vector<uint16_t> codes(std::min<uint64_t>(kPiece, floats.count()));
  for (uint64_t done = 0; done < floats.count(); done += kPiece) {
    const std::span piece(codes.data(), std::min<uint64_t>(kPiece, floats.count() - done));
    convert::narrow_floats(DType::bfloat16, floats.bytes().subspan(done * sizeof(float), piece.size() * sizeof(float)),
                           true, piece);
    auto* const wide = reinterpret_cast<uint32_t*>(to.data()) + done;
    for (size_t i = 0; i < piece.size(); ++i) wide[i] = uint32_t{piece[i]} << 16;
  }
}

tensor::Tensor rounded(const tensor::Tensor& floats) {
  return {DType::float32, floats.shape(), tensor::make_derived(floats.size_bytes(), [floats](std::span<std::byte> to) {
            round_floats(floats, to);
            tensor::let_go_of(*floats.storage());
          })};
}

class WeightRounder {
 public:
  WeightRounder(ir::Model& model, ir::Rewriter& rewriter, int64_t few_rows)
      : model_(model), rewriter_(rewriter), few_rows_(few_rows), inference_(model) {
    inference_.run();
  }

  void run(FunctionRef<bool(ir::NodeId)> is_kept) {
    std::vector<ir::NodeId> nodes;
    for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) nodes.push_back(node);
    for (const ir::NodeId node : nodes) {
      if (!multiplies_few(node) || is_kept(node)) continue;
      if (!rewriter_.record("round the weights of {0} to bfloat16", node)) return;
      ir::Edit& edit = rewriter_.edit();
      const ir::ValueId weights = model_[node].operands[1].value;
      ir::ValueId& known = rounded_[weights];
      if (!known.valid()) {
        const std::string name = fmt::format("{}_rounded", model_.text(model_[weights].name));
        known = ir::add_initializer(edit, {model_.main_graph(), ir::fresh_name(edit, name),
                                           rounded(*constant_of(model_, inference_, weights))});
      }
      edit.set_operand(node, 1, known);
    }
  }

 private:
  bool multiplies_few(ir::NodeId id) const {
    const ir::Node& node = model_[id];
    if (ops::traits(model_, id).product != ops::ProductKind::matrices) return false;
    const ir::Attribute* const turned = model_.find_attribute(node, "transA");
    const bool is_turned = turned != nullptr && (turned->is_reference() || turned->integer() != 0);
    const ops::Type& data = inference_.type(node.operands[0].value);
    if (is_turned || !data.is_tensor() || data.dtype != DType::float32 || !data.dims || data.dims->empty())
      return false;
    const tensor::Tensor* const weights = constant_of(model_, inference_, node.operands[1].value);
    if (weights == nullptr || weights->shape().size() != 2 || weights->storage() == nullptr) return false;
    const std::optional<int64_t> rows = ops::product(std::span(*data.dims).first(data.dims->size() - 1)).number();
    return rows && *rows <= few_rows_ && weights->storage()->fill_pattern().empty();
  }

  ir::Model& model_;
  ir::Rewriter& rewriter_;
  int64_t few_rows_;
  ops::Inference inference_;
  std::map<ir::ValueId, ir::ValueId> rounded_;
};

}  // namespace

void round_weights(ir::Model& model, ir::Rewriter& rewriter, int64_t few_rows, FunctionRef<bool(ir::NodeId)> is_kept) {
  WeightRounder(model, rewriter, few_rows).run(is_kept);
}

}  // namespace assay::engine
