#include "engine/layers/spelled_rotary.h"

#include <algorithm>
#include <array>
#include <set>

#include "engine/layers/elementwise.h"
#include "engine/layers/graph_reader.h"
#include "ir/queries.h"

namespace assay::engine {
namespace {

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

  std::vector<ir::NodeId> last_cuts(ir::ValueId value) const {
    std::vector<ir::NodeId> cuts;
    for (ir::NodeId node = ir::producer(model_, value); cuts_last(node);
         node = ir::producer(model_, operand(node, 0))) {
      cuts.push_back(node);
    }
    return cuts;
  }

 private:
  bool is_chained(ir::NodeId node, std::string_view op) const {
    return is(node, op) && is_elementwise(inference_, model_, node);
  }
  bool cuts_last(ir::NodeId node) const {
    if (is(node, "Split")) return is_last(facts(node).integer("axis", 0), operand(node, 0));
    return is(node, "Slice") && operand(node, 3).valid() && is_last_axis(operand(node, 3), dims_of(operand(node, 0)));
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
        const ir::ValueId from = (*b)[which], sines = (*b)[1 - which];
        if (add_halves(*a, from, sines) || add_neighbours(*a, from, sines)) {
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
    found_.pieces.push_back({Turn::difference, half, {{plain[0]}, {plain[1]}, {right}, {sines}}});
    found_.pieces.push_back({Turn::sum, half, {{plain[0], half}, {plain[1], half}, {left}, {sines, half}}});
    found_.nodes.insert(found_.nodes.end(), {negation, concat});
    return true;
  }

  // Elements at even or odd places of a value's last dim, and the nodes that take them.
  struct Half {
    ir::ValueId whole;
    int64_t place = 0;
    std::vector<ir::NodeId> nodes;
  };

  // The only element of a constant list, or the number.
  bool is_number(ir::ValueId value, double wanted) const { return number(value) == wanted; }
  bool is_last_axis(ir::ValueId axis, const tensor::Shape& dims) const {
    return is_number(axis, static_cast<double>(dims.size()) - 1) || is_number(axis, -1);
  }
  // The producer of a value with one dim of 1 less, or more, at the end; invalid: it is none.
  ir::NodeId maker_by_last_one(ir::ValueId value, std::string_view op, bool adds) const {
    const ir::NodeId node = sole_maker(value);
    if (!is(node, op) && !is(node, "Reshape")) return {};
    tensor::Shape longer = dims_of(adds ? value : operand(node, 0)), shorter = dims_of(adds ? operand(node, 0) : value);
    shorter.push_back(1);
    return shorter == longer ? node : ir::NodeId();
  }

  std::optional<Half> find_half(ir::ValueId value) const {
    const ir::NodeId node = sole_maker(value);
    if (is(node, "Slice")) return find_sliced(node);
    if (is(node, "Gather")) return find_taken(value);
    const ir::NodeId last = maker_by_last_one(value, "Squeeze", false);
    return last.valid() ? with_node(find_taken(operand(last, 0)), last) : std::nullopt;
  }
  // That of a value with a dim of 1 behind the last one.
  std::optional<Half> find_half_behind(ir::ValueId value) const {
    const ir::NodeId last = maker_by_last_one(value, "Unsqueeze", true);
    if (last.valid()) return with_node(find_half(operand(last, 0)), last);
    const bool has_one = dims_of(value).size() == out_.dims.size() + 1 && has_last_dim(value, 1);
    return has_one ? find_taken(value) : std::nullopt;
  }
  // A half under a Neg, wherever that stands.
  std::optional<Half> find_negated(ir::ValueId value) const {
    const ir::NodeId last = maker_by_last_one(value, "Unsqueeze", true);
    const ir::NodeId negation = sole_maker(last.valid() ? operand(last, 0) : value);
    if (!is_chained(negation, "Neg")) return std::nullopt;
    const ir::ValueId given = operand(negation, 0);
    std::optional<Half> half = with_node(last.valid() ? find_half(given) : find_half_behind(given), negation);
    return last.valid() ? with_node(std::move(half), last) : half;
  }
  static std::optional<Half> with_node(std::optional<Half> half, ir::NodeId node) {
    if (half) half->nodes.push_back(node);
    return half;
  }

  // One of the two elements of a last dim, by Gather or Split.
  std::optional<Half> find_taken(ir::ValueId value) const {
    const ir::NodeId taken = sole_maker(value);
    if (!is(taken, "Gather") && !is(taken, "Split")) return std::nullopt;
    if (!is_last(facts(taken).integer("axis", 0), operand(taken, 0))) return std::nullopt;
    Half half{.place = model_[taken].results.front() == value ? 0 : 1, .nodes = {taken}};
    if (is(taken, "Gather")) {
      const std::optional<double> place = number(operand(taken, 1));
      if (!place || (*place != 0 && *place != 1)) return std::nullopt;
      half.place = static_cast<int64_t>(*place);
    }
    return with_pairs(std::move(half), operand(taken, 0));
  }
  bool is_last(int64_t axis, ir::ValueId value) const {
    return axis == -1 || axis + 1 == static_cast<int64_t>(dims_of(value).size());
  }

  // Completes a half by the Reshape that gives pairs a dim of their own.
  std::optional<Half> with_pairs(Half half, ir::ValueId pairs) const {
    const ir::NodeId reshape = pairs.valid() ? model_[pairs].producer : ir::NodeId();
    if (!is(reshape, "Reshape")) return std::nullopt;
    half.whole = operand(reshape, 0);
    tensor::Shape dims = dims_of(half.whole);
    if (dims.empty() || dims.back() % 2 != 0) return std::nullopt;
    dims.back() /= 2;
    dims.push_back(2);
    if (dims_of(pairs) != dims) return std::nullopt;
    half.nodes.push_back(reshape);
    return half;
  }

  // Slice with steps of 2 along the last dim.
  std::optional<Half> find_sliced(ir::NodeId slice) const {
    const tensor::Shape dims = dims_of(operand(slice, 0));
    const bool takes_others = model_[slice].operands.size() == 5 && !dims.empty() && dims.back() % 2 == 0 &&
                              is_number(operand(slice, 4), 2) && is_last_axis(operand(slice, 3), dims) &&
                              has_last_dim(result(slice), dims.back() / 2);
    const std::optional<double> first = takes_others ? number(operand(slice, 1)) : std::nullopt;
    if (!first || (*first != 0 && *first != 1)) return std::nullopt;
    return Half{operand(slice, 0), static_cast<int64_t>(*first), {slice}};
  }

  // Reshape(Concat(Neg(odd), even)) of dims of 1 behind the last one, where `plain` has the value that they are of.
  bool add_neighbours(const std::array<ir::ValueId, 2>& plain, ir::ValueId turned, ir::ValueId sines) {
    const ir::NodeId reshape = sole_maker(turned);
    const ir::NodeId concat = is(reshape, "Reshape") ? sole_maker(operand(reshape, 0)) : ir::NodeId();
    if (!is(concat, "Concat") || model_[concat].operands.size() != 2) return false;
    if (!is_last(facts(concat).integer("axis", 0), result(concat))) return false;
    const std::optional<Half> odd = find_negated(operand(concat, 0));
    const std::optional<Half> even = find_half_behind(operand(concat, 1));
    if (!odd || !even || odd->place != 1 || even->place != 0 || odd->whole != even->whole) return false;
    const ir::ValueId x = odd->whole;
    const auto which = std::ranges::find(plain, x);
    const int64_t width = width_of(x);
    if (which == plain.end() || width == 0 || dims_of(turned) != dims_of(x)) return false;
    const ir::ValueId cosines = plain[which == plain.begin() ? 1 : 0];
    if (!has_last_dim(cosines, width) || !has_last_dim(sines, width)) return false;
    std::set<ir::NodeId> nodes = {concat, reshape};
    nodes.insert(odd->nodes.begin(), odd->nodes.end());
    nodes.insert(even->nodes.begin(), even->nodes.end());
    if (!are_used_inside(nodes, reshape)) return false;
    found_.pieces.push_back({Turn::neighbours, width, {{x}, {cosines}, {sines}}});
    found_.nodes.insert(found_.nodes.end(), nodes.begin(), nodes.end());
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
    const Turn turn = is_chained(node, "Sub") ? Turn::difference : Turn::sum;
    found_.pieces.push_back({turn, width, {{all[0]}, {all[1]}, {all[2]}, {all[3]}}});
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
      found_.pieces.push_back({Turn::copy, width, {{use.value}}});
    }
    found_.nodes.push_back(concat);
    const auto count = [&](Turn turn) { return std::ranges::count(found_.pieces, turn, &Piece::turn); };
    const bool are_turned = count(Turn::difference) + count(Turn::neighbours) > 0;
    return are_turned && count(Turn::difference) == count(Turn::sum) && found_.pieces.size() <= kMostRotaryPieces;
  }

  TensorDesc out_;
  SpelledRotary found_;
};

}  // namespace

std::optional<SpelledRotary> match_rotary(const ir::Model& model, const ops::Inference& inference, ir::NodeId last,
                                          const ConstantOf& constant) {
  return Matcher(model, inference, constant).match(last);
}

std::vector<ir::NodeId> last_cuts(const ir::Model& model, const ops::Inference& inference, ir::ValueId value,
                                  const ConstantOf& constant) {
  return Matcher(model, inference, constant).last_cuts(value);
}

}  // namespace assay::engine
