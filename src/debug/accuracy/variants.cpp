#include "debug/accuracy/variants.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/edit.h"
#include "ops/resolve.h"

namespace assay::debug {
namespace {

constexpr double kLikeness = 256;  // roundoffs of an element that a match may be away, beside its allowance

// Operators that take and give the same.
constexpr std::array<std::string_view, 12> kFamilies = {
    "Add Sub Mul Div Pow PRelu",
    "Less Greater LessOrEqual GreaterOrEqual Equal",
    "And Or Xor",
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
};

class Variants {
 public:
  Variants(const ir::Model& model, const Accused& accused) : model_(model.copy()), accused_(accused) {}

  std::string find() {
    if (is_like(accused_.exact)) return {};  // then everything that is near would do
    if (std::string found = swapped(); !found.empty()) return found;
    if (std::string found = transposed(); !found.empty()) return found;
    const schema::Schema* const schema = ops::Resolver(model_)[accused_.node].schema;
    if (schema == nullptr) return {};
    for (const schema::AttributeSchema& attribute : schema->attributes) {
      if (std::string found = other_values(attribute); !found.empty()) return found;
    }
    return another_operator();
  }

 private:
  Datum operand(ir::ValueId value) const {
    for (const auto& [known, datum] : accused_.operands) {
      if (known == value) return datum;
    }
    return {};
  }

  bool matches(const OperandSource& operands) const {
    const std::variant<std::vector<Datum>, Error> made =
        attempt([&] { return LayerOracle(model_).exact(accused_.node, operands); });
    const std::vector<Datum>* const results = std::get_if<std::vector<Datum>>(&made);
    if (results == nullptr || accused_.result >= results->size()) return false;
    return is_like((*results)[accused_.result]);
  }

  bool is_like(const Datum& result) const {
    if (!is_numeric(result) || result.tensor().shape() != accused_.given.tensor().shape()) return false;
    const std::vector<double> numbers = numbers_of(result);
    const std::vector<double> given = numbers_of(accused_.given);
    const double unit = analysis::roundoff(accused_.exact.declared());
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] == given[i] || (std::isnan(numbers[i]) && std::isnan(given[i]))) continue;
      const double allowed = accused_.allowed(i) + kLikeness * unit * std::abs(numbers[i]);
      if (!(std::abs(numbers[i] - given[i]) <= allowed)) return false;
    }
    return true;
  }

  bool matches() const {
    return matches([this](ir::ValueId value) { return operand(value); });
  }

  std::string swapped() {
    const std::span<const ir::Use> uses = model_[accused_.node].operands;
    if (uses.size() < 2 || !uses[0].value || !uses[1].value) return {};
    const ir::ValueId first = uses[0].value, second = uses[1].value;
    ir::Edit edit(model_);
    edit.set_operand(accused_.node, 0, second);
    edit.set_operand(accused_.node, 1, first);
    const bool fits = matches();
    edit.set_operand(accused_.node, 0, first);
    edit.set_operand(accused_.node, 1, second);
    return fits ? "with its first two inputs swapped" : "";
  }

  // A square weight the other way round.
  std::string transposed() const {
    for (size_t i = 1; i < model_[accused_.node].operands.size(); ++i) {
      const ir::ValueId value = model_[accused_.node].operands[i].value;
      const Datum datum = value ? operand(value) : Datum();
      if (!is_numeric(datum) || datum.tensor().shape().size() < 2) continue;
      const tensor::Shape& shape = datum.tensor().shape();
      const auto rows = static_cast<size_t>(shape[shape.size() - 2]), columns = static_cast<size_t>(shape.back());
      if (rows != columns || rows < 2) continue;
      const std::vector<double> numbers = numbers_of(datum);
      std::vector<double> turned(numbers.size());
      for (size_t k = 0; k < numbers.size(); ++k) {
        const size_t inner = k % (rows * columns);
        turned[k - inner + inner % columns * rows + inner / columns] = numbers[k];
      }
      const Datum other = with_numbers(datum, std::move(turned));
      if (matches([&](ir::ValueId wanted) { return wanted == value ? other : operand(wanted); })) {
        return fmt::format("with input {} transposed", i);
      }
    }
    return {};
  }

  std::string tried(const ir::Attribute& other, const std::string& text) {
    const std::span<const ir::Attribute> before = model_[accused_.node].attributes;
    const std::vector<ir::Attribute> original(before.begin(), before.end());
    ir::Edit edit(model_);
    edit.set_attribute(accused_.node, other);
    const bool fits = matches();
    edit.set_attributes(accused_.node, original);
    return fits ? fmt::format("with {}={}", model_.text(other.name()), text) : "";
  }

  std::string other_values(const schema::AttributeSchema& schema) {
    const ir::Attribute* const written = model_.find_attribute(model_[accused_.node], schema.name);
    if (written != nullptr && written->is_reference()) return {};
    const ir::Symbol name = ir::Edit(model_).intern(schema.name);
    if (schema.type == ir::AttributeType::integer) return other_integers(schema, written, name);
    if (schema.type == ir::AttributeType::floating) return other_floats(schema, written, name);
    if (schema.type == ir::AttributeType::integers && written != nullptr) return other_lists(*written);
    return {};
  }

  std::string other_integers(const schema::AttributeSchema& schema, const ir::Attribute* written, ir::Symbol name) {
    const int64_t* const standard = std::get_if<int64_t>(&schema.value);
    const int64_t value = written != nullptr ? written->integer() : standard != nullptr ? *standard : 0;
    for (const int64_t other : {value + 1, value - 1, int64_t{0}, int64_t{1}, int64_t{-1}, value + 2, value - 2}) {
      if (other == value) continue;
      std::string found = tried(ir::Attribute::of(name, other), fmt::format("{}", other));
      if (!found.empty()) return found;
    }
    return {};
  }

  std::string other_floats(const schema::AttributeSchema& schema, const ir::Attribute* written, ir::Symbol name) {
    const float* const standard = std::get_if<float>(&schema.value);
    const float value = written != nullptr ? written->floating() : standard != nullptr ? *standard : 0.0F;
    for (const float other :
         {0.0F, 1.0F, value * 10, value / 10, value * 100, value / 100, 1e-5F, 1e-3F, -value, value * 2, value / 2}) {
      if (other == value) continue;
      std::string found = tried(ir::Attribute::of(name, other), fmt::format("{:g}", other));
      if (!found.empty()) return found;
    }
    return {};
  }

  // Turned round, shifted by one place, one more or less at one place or everywhere, and one taken from a place to the
  // one half a list away, as pads at both ends of an axis are.
  std::string other_lists(const ir::Attribute& written) {
    const std::vector<int64_t> values(written.integers().begin(), written.integers().end());
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
    const ir::Symbol name = written.name();
    for (const std::vector<int64_t>& other : others) {
      if (other == values) continue;
      const ir::Attribute attribute =
          ir::Attribute::list(name, ir::AttributeType::integers, model_.arena().copy(std::span<const int64_t>(other)));
      std::string found = tried(attribute, fmt::format("[{}]", fmt::join(other, ",")));
      if (!found.empty()) return found;
    }
    return {};
  }

  std::string another_operator() {
    const ir::Symbol own = model_[accused_.node].op;
    const std::string_view name = model_.text(own);
    ir::Edit edit(model_);
    for (const std::string_view listed : kFamilies) {
      const std::vector<std::string_view> family = split(listed, ' ');
      if (std::ranges::find(family, name) == family.end()) continue;
      for (const std::string_view other : family) {
        if (other == name) continue;
        edit.set_op(accused_.node, edit.intern(other));
        const bool fits = matches();
        edit.set_op(accused_.node, own);
        if (fits) return fmt::format("as {}", other);
      }
    }
    return {};
  }

  ir::Model model_;
  const Accused& accused_;
};

}  // namespace

std::string matching_variant(const ir::Model& model, const Accused& accused) { return Variants(model, accused).find(); }

}  // namespace assay::debug
