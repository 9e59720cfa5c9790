#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/model.h"

namespace assay::ops {

// Kind of work that an operator does.
enum class Nature : uint8_t {
  unknown,        // no operator of the schemas
  movement,       // elements of operands as they are, at other places
  elementwise,    // one result, each element from those at its place; operands are broadcast as in numpy
  conversion,     // numbers of the first operand in another type
  quantization,   // codes of numbers, or numbers of codes
  reduction,      // many elements along axes in each element
  pool,           // the elements of a window in each element
  sampling,       // elements of a picture at computed places, or these places
  product,        // sums of products: matrices, convolutions, attention, transforms
  recurrence,     // products step by step, each with the result of the one before
  normalization,  // elements by the mean, size or sum of many
  selection,      // elements or places, picked by size
  generator,      // results of attributes, sizes, places or chance
  noise,          // elements as they are, except in training
  control,        // bodies are run
  container,      // sequences, optionals and maps
  text,           // strings and tokens
  learner,        // encoders, trees and machines of ai.onnx.ml
  training        // steps of optimizers
};

// Results that correct implementations may give, next to the exact ones.
enum class RoundingClass : uint8_t {
  exact,
  arithmetic,   // one rounding of each element
  continuous,   // some roundings, as many as terms are summed
  part_of_one,  // likewise, relative to 1
  activation,   // likewise, relative to the operand
  sampled,      // likewise, with places that are computed
  stepped,      // whole numbers: an element near an edge may fall to either side
  coded,        // codes likewise
  decided,      // truths or signs likewise
  selected,     // another element or place, if two are nearly equal
  random
};

// Range of the elements of the first result, at worst.
enum class ValueRange : uint8_t {
  unknown,
  first,          // among the elements of the first operand
  first_or_zero,  // likewise, or 0
  all,            // among the elements of all operands
  part_of_one,    // from 0 to 1
  around_zero     // from -1 to 1
};

// Order of elements that are moved.
enum class Moves : uint8_t {
  freely,
  each_once,  // all elements, each to one place
  by_dims,    // likewise, with dims that change places
  in_order    // all elements, in the same order: dims alone change
};

// Sums of products of the first two operands, of which the second holds weights, with a bias as the third.
enum class ProductKind : uint8_t {
  other,
  matrices,                // rows of the first by columns of the second
  convolution,             // weights of shape [out, in, …]
  transposed_convolution,  // weights of shape [in, out, …]
  contraction              // along named axes
};

// Direction between numbers and codes.
enum class Coding : uint8_t {
  none,
  encodes,           // by a scale that is given
  encodes_by_range,  // by the range of the numbers themselves
  decodes
};

// Numbers for which a function is defined.
enum class Domain : uint8_t { all, not_negative, positive, bounded };

// Way in which the bodies of a node are run.
enum class Bodies : uint8_t {
  none,
  one_of_two,       // by a condition
  again,            // until a number of times or a condition is reached
  along_axes,       // once for each slice
  for_each_element  // in a sequence
};

// Some of the first 16 operands.
class OperandSet {
 public:
  constexpr OperandSet() = default;
  constexpr OperandSet(std::initializer_list<uint32_t> operands) {
    for (const uint32_t operand : operands) bits_ = static_cast<uint16_t>(bits_ | (1U << operand));
  }
  constexpr bool contains(uint32_t operand) const { return operand < 16 && (bits_ >> operand & 1U) != 0; }
  constexpr bool is_empty() const { return bits_ == 0; }

 private:
  uint16_t bits_ = 0;
};

constexpr RoundingClass usual_rounding(Nature nature) {
  switch (nature) {
    case Nature::movement:
    case Nature::generator:
    case Nature::noise:
    case Nature::control:
    case Nature::container:
      return RoundingClass::exact;
    case Nature::conversion:
      return RoundingClass::arithmetic;
    case Nature::quantization:
      return RoundingClass::coded;
    case Nature::sampling:
      return RoundingClass::sampled;
    case Nature::selection:
      return RoundingClass::selected;
    default:
      return RoundingClass::continuous;
  }
}

// Facts of an operator next to its nature.
struct TraitDetails {
  std::optional<RoundingClass> rounding;  // usual_rounding() if it is left out
  std::optional<ValueRange> range;        // of movements `first`, of others `unknown` if it is left out
  Moves moves = Moves::freely;
  bool is_commutative = false;
  bool counts_elements = false;
  OperandSet indices = {};
  OperandSet sizes = {};
  OperandSet places = {};
  OperandSet shapes = {};
  OperandSet decisions = {};
  OperandSet divisors = {};
  OperandSet codes = {};
  OperandSet scales = {};
  OperandSet variances = {};
  ProductKind product = ProductKind::other;
  bool has_bias = false;
  Coding coding = Coding::none;
  Domain domain = Domain::all;
  Bodies bodies = Bodies::none;
  bool is_periodic = false;
  bool is_identity = false;
  bool clamps_sizes = false;
  std::string_view typed_by = {};
};

// Facts about an operator that hold in all its versions, for all who treat operators of a kind alike.
struct Traits {
  constexpr Traits(Nature kind, const TraitDetails& details = {})  // NOLINT: most rows say no more than the nature
      : nature(kind),
        rounding(details.rounding.value_or(usual_rounding(kind))),
        range(details.range.value_or(kind == Nature::movement ? ValueRange::first : ValueRange::unknown)),
        moves(details.moves),
        is_commutative(details.is_commutative),
        counts_elements(details.counts_elements),
        indices(details.indices),
        sizes(details.sizes),
        places(details.places),
        shapes(details.shapes),
        decisions(details.decisions),
        divisors(details.divisors),
        codes(details.codes),
        scales(details.scales),
        variances(details.variances),
        product(details.product),
        has_bias(details.has_bias),
        coding(details.coding),
        domain(details.domain),
        bodies(details.bodies),
        is_periodic(details.is_periodic),
        is_identity(details.is_identity),
        clamps_sizes(details.clamps_sizes),
        typed_by(details.typed_by) {}

  constexpr bool is(Nature kind) const { return nature == kind; }
  // True if only the dims change.
  constexpr bool is_reshape() const { return moves == Moves::in_order && !is_identity; }
  // True if numbers are given in the type that an attribute names.
  constexpr bool is_cast() const { return is(Nature::conversion) && range == ValueRange::first && !typed_by.empty(); }
  constexpr bool encodes() const { return coding == Coding::encodes; }
  constexpr bool decodes() const { return coding == Coding::decodes; }
  // True if, in inference, each channel is multiplied by a factor and shifted, as a layer before can do itself.
  constexpr bool is_affine() const { return !variances.is_empty(); }

  Nature nature;
  RoundingClass rounding;
  ValueRange range;
  Moves moves;           // of a movement
  bool is_commutative;   // operands may be given in any order
  bool counts_elements;  // elements of the operands decide the dims of the results, as in NonZero
  OperandSet indices;    // operands whose elements are places along dims
  OperandSet sizes;      // operands whose elements decide the dims of the results, as in Reshape
  OperandSet places;     // operands whose elements are coordinates in pictures
  OperandSet shapes;     // operands of which only the shape counts
  OperandSet decisions;  // operands that say which body runs, or how often
  OperandSet divisors;   // operands that must not have a 0
  OperandSet codes;      // operands that are codes of numbers
  OperandSet scales;     // operands that are scales of codes
  OperandSet variances;  // operands that are variances of channels
  ProductKind product;
  bool has_bias;              // of a product: may have the third operand
  Coding coding;              // of a quantization
  Domain domain;              // of the first operand
  Bodies bodies;              // of a control
  bool is_periodic;           // the first operand is an angle
  bool is_identity;           // the result is the operand
  bool clamps_sizes;          // sizes beyond everything mean the end
  std::string_view typed_by;  // attribute that says of which type the result is; empty: none
};

// Traits of an operator of the schemas; Nature::unknown for other names.
const Traits& traits(std::string_view domain, std::string_view name);
// Traits of the operator that has the node's name, also where a function of the model stands in its place.
const Traits& traits(const ir::Model& model, ir::NodeId node);
// Names of the operators of a domain that are so, sorted.
std::vector<std::string_view> operators_that(bool (*are)(const Traits& traits), std::string_view domain = "");

}  // namespace assay::ops
