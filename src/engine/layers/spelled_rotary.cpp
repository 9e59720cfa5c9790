#include "engine/layers/spelled_rotary.h"

#include <algorithm>

#include "engine/layers/elementwise.h"
#include "ir/queries.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

using Part = SpelledRotary::Part;
using Piece = SpelledRotary::Piece;

class Matcher {
 public:
  Matcher(const ir::Model& model, const ops::Inference& inference, const ConstantOf& constant)
      : model_(model), inference_(inference), constant_(constant) {}

  std::optional<SpelledRotary> match(ir::NodeId last) {
    const std::optional<TensorDesc> out = find_desc(model_, inference_, ir::result(model_, last));
    const bool is_known = out && !out->dims.empty() && out->count() > 0 &&
                          (out->dtype == tensor::DType::float32 || out->dtype == tensor::DType::bfloat16);
    if (!is_known) return std::nullopt;
    out_ = *out;
    const ir::NodeId scaled = take_scale(last);
    if (!add_turned_halves(scaled) && !add_pieces(scaled)) return std::nullopt;
    std::ranges::sort(found_.nodes, {}, [&](ir::NodeId node) { return model_[node].order; });
    return std::move(found_);
  }

 private:
  bool is(ir::NodeId node, std::string_view op) const {
    return node.valid() && !model_[node].is_outputs && model_.text(model_[node].op) == op &&
           is_elementwise(inference_, model_, node);
  }
  // True if the node joins values along their last dim.
  bool joins_last(ir::NodeId node) const {
    const bool is_concat = node.valid() && !model_[node].is_outputs && model_.text(model_[node].op) == "Concat" &&
                           model_.text(model_[node].domain).empty() && inference_.callees()[node].op != nullptr;
    if (!is_concat) return false;
    const ops::Callee& callee = inference_.callees()[node];
    const ops::Node facts(model_, model_[node], callee.schema, callee.version, nullptr);
    const auto rank = static_cast<int64_t>(out_.dims.size());
    const int64_t axis = facts.integer("axis", 1);
    return axis == rank - 1 || axis == -1;
  }
  // The node that makes a value for one use; invalid: there are others.
  ir::NodeId maker(ir::ValueId value) const {
    const ir::Use* const use = model_[value].first_use;
    const bool is_inside = use != nullptr && use->next == nullptr && !model_[use->user].is_outputs;
    const ir::NodeId node = is_inside ? model_[value].producer : ir::NodeId();
    return node.valid() && model_[node].graph == model_[use->user].graph ? node : ir::NodeId();
  }
  tensor::Shape dims_of(ir::ValueId value) const {
    return value.valid() ? find_desc(model_, inference_, value).value_or(TensorDesc()).dims : tensor::Shape();
  }
  // The size of the last dim of a value of which the others are those of the result; 0: they are not.
  int64_t width_of(ir::ValueId value) const {
    const tensor::Shape dims = dims_of(value);
    if (dims.size() != out_.dims.size()) return 0;
    return std::equal(dims.begin(), dims.end() - 1, out_.dims.begin()) ? dims.back() : 0;
  }
  bool has_last_dim(ir::ValueId value, int64_t width) const {
    const tensor::Shape dims = dims_of(value);
    return !dims.empty() && dims.back() == width;
  }

  // The operands of a Mul that nothing else uses.
  std::optional<std::array<ir::ValueId, 2>> factors(ir::ValueId product) const {
    const ir::NodeId node = maker(product);
    if (!is(node, "Mul")) return std::nullopt;
    return std::array{ir::operand(model_, node, 0), ir::operand(model_, node, 1)};
  }

  // Takes a Mul by a number. Returns the producer of what it scales, which is of its size; the node itself if it is
  // none.
  ir::NodeId take_scale(ir::NodeId last) {
    for (const uint32_t index : {0U, 1U}) {
      const ir::ValueId given = is(last, "Mul") ? ir::operand(model_, last, index) : ir::ValueId();
      const tensor::Tensor* const number = given.valid() ? constant_(ir::operand(model_, last, 1 - index)) : nullptr;
      if (number == nullptr || number->count() != 1 || dims_of(given) != out_.dims || !maker(given).valid()) continue;
      const bool is_rounded = out_.dtype != tensor::DType::float32 && joins_last(maker(given));  // before it is scaled
      if (is_rounded) continue;
      found_.scale = static_cast<float>(tensor::load_elements<double>(*number).front());
      found_.nodes.push_back(last);
      return maker(given);
    }
    return last;
  }

  // Add(Mul(x, cos), Mul(Concat(Neg(right), left), sin)), whatever the order of operands is.
  bool add_turned_halves(ir::NodeId sum) {
    if (!is(sum, "Add")) return false;
    for (const uint32_t index : {0U, 1U}) {
      const ir::ValueId plain = ir::operand(model_, sum, index);
      const ir::ValueId turned = ir::operand(model_, sum, 1 - index);
      const auto a = factors(plain);
      const auto b = factors(turned);
      if (!a || !b) return false;
      for (const uint32_t which : {0U, 1U}) {
        if (add_halves(*a, (*b)[which], (*b)[1 - which])) {
          found_.nodes.insert(found_.nodes.end(), {maker(plain), maker(turned), sum});
          return true;
        }
      }
    }
    return false;
  }

  bool add_halves(const std::array<ir::ValueId, 2>& plain, ir::ValueId turned, ir::ValueId sines) {
    const ir::NodeId concat = maker(turned);
    if (!joins_last(concat) || model_[concat].operands.size() != 2) return false;
    const ir::NodeId negation = maker(ir::operand(model_, concat, 0));
    if (!is(negation, "Neg")) return false;
    const ir::ValueId right = ir::operand(model_, negation, 0);
    const ir::ValueId left = ir::operand(model_, concat, 1);
    const int64_t half = width_of(right);
    const bool fits = half > 0 && width_of(left) == half && has_last_dim(plain[0], 2 * half) &&
                      has_last_dim(plain[1], 2 * half) && has_last_dim(sines, 2 * half);
    if (!fits) return false;
    found_.pieces.push_back({half, true, true, {Part{plain[0], 0}, {plain[1], 0}, {right, 0}, {sines, 0}}});
    found_.pieces.push_back({half, true, false, {Part{plain[0], half}, {plain[1], half}, {left, 0}, {sines, half}}});
    found_.nodes.insert(found_.nodes.end(), {negation, concat});
    return true;
  }

  // One half that is computed apart: a difference or a sum of two products.
  bool add_turned_piece(ir::NodeId node, int64_t width) {
    if (!is(node, "Add") && !is(node, "Sub")) return false;
    const ir::ValueId left = ir::operand(model_, node, 0);
    const ir::ValueId right = ir::operand(model_, node, 1);
    const auto a = factors(left);
    const auto b = factors(right);
    if (!a || !b) return false;
    const std::array all = {(*a)[0], (*a)[1], (*b)[0], (*b)[1]};
    if (!std::ranges::all_of(all, [&](ir::ValueId value) { return has_last_dim(value, width); })) return false;
    found_.pieces.push_back({width, true, is(node, "Sub"), {Part{all[0], 0}, {all[1], 0}, {all[2], 0}, {all[3], 0}}});
    found_.nodes.insert(found_.nodes.end(), {maker(left), maker(right), node});
    return true;
  }

  // A Concat of pieces, of which some are turned.
  bool add_pieces(ir::NodeId concat) {
    if (!joins_last(concat)) return false;
    for (const ir::Use& use : model_[concat].operands) {
      const int64_t width = use.value.valid() ? width_of(use.value) : 0;
      if (width == 0) return false;
      const ir::NodeId node = maker(use.value);
      if (add_turned_halves(node) || add_turned_piece(node, width)) continue;
      found_.pieces.push_back({width, false, false, {Part{use.value, 0}}});
    }
    found_.nodes.push_back(concat);
    const auto count = [&](bool is_difference) {
      return std::ranges::count_if(
          found_.pieces, [&](const Piece& piece) { return piece.is_turned && piece.is_difference == is_difference; });
    };
    return count(true) > 0 && count(true) == count(false) && found_.pieces.size() <= kMostRotaryPieces;
  }

  const ir::Model& model_;
  const ops::Inference& inference_;
  const ConstantOf& constant_;
  TensorDesc out_;
  SpelledRotary found_;
};

}  // namespace

std::optional<SpelledRotary> match_rotary(const ir::Model& model, const ops::Inference& inference, ir::NodeId last,
                                          const ConstantOf& constant) {
  return Matcher(model, inference, constant).match(last);
}

}  // namespace assay::engine
