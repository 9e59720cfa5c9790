#include "engine/layers/spelled_rotary.h"

#include <algorithm>

#include "engine/layers/elementwise.h"
#include "engine/layers/graph_reader.h"
#include "ir/queries.h"

namespace assay::engine {
namespace {

using Part = SpelledRotary::Part;
using Piece = SpelledRotary::Piece;

class Matcher : GraphReader {
 public:
  Matcher(const ir::Model& model, const ops::Inference& inference, const ConstantOf& constant)
      : GraphReader(model, inference, constant) {}

  std::optional<SpelledRotary> match(ir::NodeId last) {
    const std::optional<TensorDesc> out = find_desc(model_, inference_, ir::result(model_, last));
    if (!out || out->dims.empty() || out->count() == 0 || !is_short_float(out->dtype)) return std::nullopt;
    out_ = *out;
    const ir::NodeId scaled = take_scale(last);
    if (!add_turned_halves(scaled) && !add_pieces(scaled)) return std::nullopt;
    std::ranges::sort(found_.nodes, {}, [&](ir::NodeId node) { return model_[node].order; });
    return std::move(found_);
  }

 private:
  bool is_chained(ir::NodeId node, std::string_view op) const {
    return is(node, op) && is_elementwise(inference_, model_, node);
  }
  // True if the node joins values along their last dim.
  bool joins_last(ir::NodeId node) const {
    if (!is(node, "Concat")) return false;
    const int64_t axis = facts(node).integer("axis", 1);
    return axis == static_cast<int64_t>(out_.dims.size()) - 1 || axis == -1;
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
    const ir::NodeId node = sole_maker(product);
    if (!is_chained(node, "Mul")) return std::nullopt;
    return std::array{operand(node, 0), operand(node, 1)};
  }

  // Takes a Mul by a number. Returns the producer of what it scales, which is of its size; the node itself if it is
  // none.
  ir::NodeId take_scale(ir::NodeId last) {
    for (const uint32_t index : {0U, 1U}) {
      const ir::ValueId given = is_chained(last, "Mul") ? operand(last, index) : ir::ValueId();
      const std::optional<double> factor = given.valid() ? number(operand(last, 1 - index)) : std::nullopt;
      if (!factor || dims_of(given) != out_.dims || !sole_maker(given).valid()) continue;
      const bool is_rounded =
          out_.dtype != tensor::DType::float32 && joins_last(sole_maker(given));  // before it is scaled
      if (is_rounded) continue;
      found_.scale = static_cast<float>(*factor);
      found_.nodes.push_back(last);
      return sole_maker(given);
    }
    return last;
  }

  // Add(Mul(x, cos), Mul(Concat(Neg(right), left), sin)), whatever the order of operands is.
  bool add_turned_halves(ir::NodeId sum) {
    if (!is_chained(sum, "Add")) return false;
    for (const uint32_t index : {0U, 1U}) {
      const ir::ValueId plain = operand(sum, index);
      const ir::ValueId turned = operand(sum, 1 - index);
      const auto a = factors(plain);
      const auto b = factors(turned);
      if (!a || !b) return false;
      for (const uint32_t which : {0U, 1U}) {
        if (add_halves(*a, (*b)[which], (*b)[1 - which])) {
          found_.nodes.insert(found_.nodes.end(), {sole_maker(plain), sole_maker(turned), sum});
          return true;
        }
      }
    }
    return false;
  }

  bool add_halves(const std::array<ir::ValueId, 2>& plain, ir::ValueId turned, ir::ValueId sines) {
    const ir::NodeId concat = sole_maker(turned);
    if (!joins_last(concat) || model_[concat].operands.size() != 2) return false;
    const ir::NodeId negation = sole_maker(operand(concat, 0));
    if (!is_chained(negation, "Neg")) return false;
    const ir::ValueId right = operand(negation, 0);
    const ir::ValueId left = operand(concat, 1);
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
    if (!is_chained(node, "Add") && !is_chained(node, "Sub")) return false;
    const ir::ValueId left = operand(node, 0);
    const ir::ValueId right = operand(node, 1);
    const auto a = factors(left);
    const auto b = factors(right);
    if (!a || !b) return false;
    const std::array all = {(*a)[0], (*a)[1], (*b)[0], (*b)[1]};
    if (!std::ranges::all_of(all, [&](ir::ValueId value) { return has_last_dim(value, width); })) return false;
    found_.pieces.push_back(
        {width, true, is_chained(node, "Sub"), {Part{all[0], 0}, {all[1], 0}, {all[2], 0}, {all[3], 0}}});
    found_.nodes.insert(found_.nodes.end(), {sole_maker(left), sole_maker(right), node});
    return true;
  }

  // A Concat of pieces, of which some are turned.
  bool add_pieces(ir::NodeId concat) {
    if (!joins_last(concat)) return false;
    for (const ir::Use& use : model_[concat].operands) {
      const int64_t width = use.value.valid() ? width_of(use.value) : 0;
      if (width == 0) return false;
      const ir::NodeId node = sole_maker(use.value);
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

  TensorDesc out_;
  SpelledRotary found_;
};

}  // namespace

std::optional<SpelledRotary> match_rotary(const ir::Model& model, const ops::Inference& inference, ir::NodeId last,
                                          const ConstantOf& constant) {
  return Matcher(model, inference, constant).match(last);
}

}  // namespace assay::engine
