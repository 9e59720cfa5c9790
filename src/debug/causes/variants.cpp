#include "debug/causes/variants.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "base/text.h"
#include "debug/causes/attribute_words.h"
#include "debug/causes/constant_trials.h"
#include "debug/causes/rounding_trials.h"
#include "ops/resolve.h"

namespace assay::debug {
namespace {

constexpr size_t kMostPermuted = 4;  // dims whose orders are all tried

// Operators that take and give the same.
constexpr std::array<std::string_view, 14> kFamilies = {
    "Add Sub Mul Div Pow PRelu",
    "Less Greater LessOrEqual GreaterOrEqual Equal",
    "And Or Xor",
    "BitwiseAnd BitwiseOr BitwiseXor",
    "Max Min Sum Mean",
    "Sigmoid Tanh Relu Softplus Elu HardSigmoid HardSwish LeakyRelu Selu Softsign Gelu Erf Identity",
    "Exp Log Sqrt Reciprocal Neg Abs Sign Sin Cos Tan Identity",
    "Ceil Floor Round",
    "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum "
    "ReduceLogSumExp",
    "MaxPool AveragePool",
    "GlobalMaxPool GlobalAveragePool",
    "ArgMax ArgMin",
    "Softmax LogSoftmax",
    "Transpose Identity",
};

class Variants {
 public:
  Variants(const ir::Model& model, const Accused& accused, const Observation& seen)
      : trial_(model, accused), seen_(seen) {}

  std::string find() {
    Explanations same(seen_);
    try_inputs(same);
    const schema::Schema* const schema = ops::Resolver(trial_.model())[trial_.accused().node].schema;
    if (schema != nullptr) {
      for (const schema::AttributeSchema& attribute : schema->attributes) try_attribute(attribute, same);
      try_words(same);
      try_left_out(*schema, same);
    }
    try_constants(trial_, seen_, same);
    try_roundings(trial_, same);
    if (std::string told = same.told(); !told.empty() || schema == nullptr) return told;
    Explanations others(seen_);
    try_operators(others);
    return others.told();
  }

 private:
  std::vector<ir::ValueId> operands() const {
    std::vector<ir::ValueId> values;
    for (const ir::Use& use : trial_.node().operands) values.push_back(use.value);
    return values;
  }

  void try_inputs(Explanations& found) {
    std::vector<ir::ValueId> values = operands();
    if (values.size() >= 2 && values[0] && values[1] && values[0] != values[1]) {
      std::swap(values[0], values[1]);
      found.add("with its first two inputs swapped", trial_.with_operands(values));
    }
    for (size_t i = 1; i < values.size(); ++i) try_transposed(i, found);
  }

  // A square weight the other way round.
  void try_transposed(size_t index, Explanations& found) {
    const Datum datum = trial_.operand_at(index);
    if (!is_numeric(datum) || !tensor::is_floating(datum.declared()) || datum.tensor().shape().size() < 2) return;
    const tensor::Shape& shape = datum.tensor().shape();
    const auto rows = static_cast<size_t>(shape[shape.size() - 2]), columns = static_cast<size_t>(shape.back());
    if (rows != columns || rows < 2) return;
    const Numbers numbers = numbers_of(datum);
    Numbers turned(numbers.size());
    for (size_t k = 0; k < numbers.size(); ++k) {
      const size_t inner = k % (rows * columns);
      turned[k - inner + inner % columns * rows + inner / columns] = numbers[k];
    }
    found.add(fmt::format("with input {} transposed", index),
              trial_.with_operand(trial_.node().operands[index].value, with_numbers(datum, std::move(turned))));
  }

  // Optional inputs at the end, such as a bias.
  void try_left_out(const schema::Schema& schema, Explanations& found) {
    std::vector<ir::ValueId> values = operands();
    while (values.size() > std::max<size_t>(schema.min_inputs, 1)) {
      const bool is_given = bool(values.back());
      values.pop_back();
      const std::string text = fmt::format("without its input {}", values.size());
      if (is_given && found.add(text, trial_.with_operands(values))) return;
    }
  }

  void try_attribute(const schema::AttributeSchema& schema, Explanations& found) {
    const ir::Attribute* const written = trial_.model().find_attribute(trial_.node(), schema.name);
    if (written != nullptr && written->is_reference()) return;
    const ir::Symbol name = trial_.intern(schema.name);
    if (schema.type == ir::AttributeType::integer) return try_integers(schema, written, name, found);
    if (schema.type == ir::AttributeType::integers && written != nullptr) return try_lists(*written, found);
    if (schema.type != ir::AttributeType::floating) return;
    const float* const standard = std::get_if<float>(&schema.value);
    const float value = written != nullptr ? written->floating() : standard != nullptr ? *standard : 0.0F;
    try_float(trial_, seen_, {name, value}, found);
  }

  void try_integers(const schema::AttributeSchema& schema, const ir::Attribute* written, ir::Symbol name,
                    Explanations& found) {
    const int64_t* const standard = std::get_if<int64_t>(&schema.value);
    const int64_t value = written != nullptr ? written->integer() : standard != nullptr ? *standard : 0;
    std::vector<int64_t> tried = {value};
    for (const int64_t other : {value + 1, value - 1, int64_t{0}, int64_t{1}, int64_t{-1}, value + 2, value - 2}) {
      if (std::ranges::find(tried, other) != tried.end()) continue;
      tried.push_back(other);
      found.add(fmt::format("with {}={}", schema.name, other),
                trial_.with_attributes({ir::Attribute::of(name, other)}));
    }
  }

  void try_lists(const ir::Attribute& written, Explanations& found) {
    const std::vector<int64_t> values(written.integers().begin(), written.integers().end());
    const ir::Symbol name = written.name();
    const bool is_order = trial_.model().text(name) == "perm" && values.size() <= kMostPermuted;
    std::vector<std::vector<int64_t>> tried = {values};
    for (std::vector<int64_t>& other : is_order ? orders(values) : near_lists(values)) {
      if (std::ranges::find(tried, other) != tried.end()) continue;
      found.add(fmt::format("with {}=[{}]", trial_.model().text(name), fmt::join(other, ",")),
                trial_.with_attributes({ir::Attribute::list(name, ir::AttributeType::integers, trial_.keep(other))}));
      tried.push_back(std::move(other));
    }
  }

  static std::vector<std::vector<int64_t>> orders(std::vector<int64_t> values) {
    std::vector<std::vector<int64_t>> all;
    std::ranges::sort(values);
    do {
      all.push_back(values);
    } while (std::ranges::next_permutation(values).found);
    return all;
  }

  // Turned round, shifted by one place, one more or less at one place or everywhere, and one taken from a place to the
  // one half a list away, as pads at both ends of an axis are.
  static std::vector<std::vector<int64_t>> near_lists(const std::vector<int64_t>& values) {
    std::vector<std::vector<int64_t>> others(2, values);
    std::ranges::reverse(others[0]);
    if (!values.empty()) std::ranges::rotate(others[1], others[1].begin() + 1);
    for (const int64_t by : {-1, 1}) {
      others.push_back(values);
      for (int64_t& value : others.back()) value += by;
      for (size_t i = 0; i < values.size(); ++i) {
        others.push_back(values);
        others.back()[i] += by;
        others.push_back(others.back());
        others.back()[(i + values.size() / 2) % values.size()] -= by;
      }
    }
    return others;
  }

  // Attributes that are words, also several of them at once.
  void try_words(Explanations& found) {
    bool is_found = false;
    for (const std::vector<AttributeWord>& words : other_words(trial_.model(), trial_.accused().node)) {
      if (words.size() > 1 && is_found) return;
      std::vector<ir::Attribute> changed;
      std::vector<std::string> texts;
      for (const AttributeWord& word : words) {
        changed.push_back(
            ir::Attribute::of(trial_.intern(word.name), ir::AttributeType::string, trial_.intern(word.value)));
        texts.push_back(fmt::format("{}={}", word.name, word.value));
      }
      is_found |= found.add("with " + join(texts, " and "), trial_.with_attributes(changed));
    }
  }

  void try_operators(Explanations& found) {
    const std::string name(trial_.op());
    std::vector<std::string_view> tried = {name};
    for (const std::string_view listed : kFamilies) {
      const std::vector<std::string_view> family = split(listed, ' ');
      if (std::ranges::find(family, name) == family.end()) continue;
      for (const std::string_view other : family) {
        if (std::ranges::find(tried, other) != tried.end()) continue;
        tried.push_back(other);
        found.add(fmt::format("as {}", other), trial_.as_operator(other));
      }
    }
  }

  LayerTrial trial_;
  const Observation& seen_;
};

}  // namespace

std::string matching_variant(const ir::Model& model, const Accused& accused, const Observation& seen) {
  return seen.wrong_count() == 0 ? std::string() : Variants(model, accused, seen).find();
}

}  // namespace assay::debug
