#include "engine/layers/recurrence.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "ops/traits.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

using enum CellFunction;

struct Kind {
  std::string_view name;
  Recurrence::Operator op;
  int64_t gates;
  size_t functions;
  CellFunction defaults[3];
};
constexpr std::array<Kind, 3> kKinds = {{{"RNN", Recurrence::Operator::rnn, 1, 1, {tanh}},
                                         {"GRU", Recurrence::Operator::gru, 3, 2, {sigmoid, tanh}},
                                         {"LSTM", Recurrence::Operator::lstm, 4, 3, {sigmoid, tanh, tanh}}}};

std::optional<CellFunction> function_of(std::string_view name) {
  std::string lower(name);
  for (char& letter : lower) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
  if (lower == "sigmoid") return sigmoid;
  if (lower == "tanh") return tanh;
  if (lower == "relu") return relu;
  return std::nullopt;
}

bool set_functions(const ops::Node& facts, const Kind& kind, Recurrence& r) {
  const std::vector<std::string_view> names = facts.strings("activations");
  const bool has_names = facts.has_attribute("activations");
  if (has_names && names.size() < kind.functions * r.cells.size()) return false;
  for (size_t i = 0; i < kind.functions * r.cells.size(); ++i) {
    const size_t place = i % kind.functions;
    const std::optional<CellFunction> function = has_names ? function_of(names[i]) : kind.defaults[place];
    if (!function) return false;
    r.cells[i / kind.functions].functions[place] = *function;
  }
  return true;
}

void set_dims(const Layer& layer, const ops::Node& facts, Recurrence& r) {
  const tensor::Shape& x = layer.inputs[Recurrence::kX].dims;
  r.is_batch_first = facts.integer("layout", 0) == 1;
  r.length = x[r.is_batch_first ? 1 : 0];
  r.batch = x[r.is_batch_first ? 0 : 1];
  r.input = x[2];
  r.hidden = layer.inputs[Recurrence::kR].dims[r.has_codes ? 1 : 2];
  r.directions = layer.inputs[Recurrence::kW].dims[0];
  for (const TensorDesc& desc : layer.inputs) r.has_inputs.push_back(desc.exists());
}

// Weights of codes, and their zero points, have the same type.
bool has_known_types(const Layer& layer, bool has_codes) {
  const auto is_known = [&](const TensorDesc& desc, tensor::DType wanted) {
    return !desc.exists() || (desc.dtype == wanted && desc.count() > 0);
  };
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const auto input = static_cast<int>(i);
    const bool is_of_w = input == Recurrence::kW || input == Recurrence::kScaleOfW + 1;
    const bool is_of_r = input == Recurrence::kR || input == Recurrence::kScaleOfR + 1;
    const tensor::DType wanted = input == Recurrence::kLengths       ? tensor::DType::int32
                                 : has_codes && (is_of_w || is_of_r) ? layer.inputs[is_of_w ? 1 : 2].dtype
                                                                     : tensor::DType::float32;
    if (!is_known(layer.inputs[i], wanted)) return false;
  }
  return std::ranges::all_of(layer.outputs,
                             [&](const TensorDesc& desc) { return is_known(desc, tensor::DType::float32); });
}

}  // namespace

int64_t Recurrence::state_at(int64_t direction, int64_t entry) const {
  return (is_batch_first ? entry * directions + direction : direction * batch + entry) * hidden;
}

int64_t Recurrence::y_at(int64_t time, int64_t direction, int64_t entry) const {
  const int64_t place = is_batch_first ? (entry * length + time) * directions + direction
                                       : (time * directions + direction) * batch + entry;
  return place * hidden;
}

int64_t Recurrence::x_row(int64_t time, int64_t entry) const {
  return is_batch_first ? entry * length + time : time * batch + entry;
}

std::optional<Recurrence> find_recurrence(const Layer& layer) {
  const ops::Traits& traits = ops::traits(*layer.model, layer.nodes.front());
  const bool has_codes = traits.is(ops::Nature::recurrence) && !traits.codes.is_empty();
  const auto* const kind = std::ranges::find_if(
      kKinds, [&](const Kind& known) { return has_codes ? known.gates == 4 : layer.starts_with(known.name); });
  if (!layer.is_single() || kind == kKinds.end() || !has_known_types(layer, has_codes)) return std::nullopt;
  const auto is_constant = [&](int input) { return layer.constants[static_cast<size_t>(input)] != nullptr; };
  if (!is_constant(Recurrence::kW) || !is_constant(Recurrence::kR)) return std::nullopt;
  for (int input = Recurrence::kScaleOfW; has_codes && input < Recurrence::kScaleOfR + 2; ++input) {
    if (!is_constant(input)) return std::nullopt;
  }
  const ops::Node facts = layer.facts(layer.nodes[0]);
  Recurrence r;
  r.op = kind->op;
  r.gates = kind->gates;
  r.has_codes = has_codes;
  set_dims(layer, facts, r);
  r.goes_back = facts.string("direction", "forward") == "reverse";
  r.resets_after = r.op == Recurrence::Operator::gru && facts.flag("linear_before_reset");
  RecurrentCell cell{.couples = facts.flag("input_forget")};
  const auto clip = static_cast<float>(facts.floating("clip", 0));
  cell.clip = clip > 0 ? clip : std::numeric_limits<float>::infinity();
  r.cells.assign(static_cast<size_t>(r.directions), cell);
  return set_functions(facts, *kind, r) ? std::optional(r) : std::nullopt;
}

RecurrentCodes codes_of(const Layer& layer, const Recurrence& r, int64_t direction, int input) {
  constexpr int kUnsignedZero = 128;  // by which codes without a sign are lessened
  const auto scale = static_cast<size_t>(input == Recurrence::kW ? Recurrence::kScaleOfW : Recurrence::kScaleOfR);
  const tensor::Tensor& all = *layer.constants[static_cast<size_t>(input)];
  const tensor::Shape dims = {all.shape()[1], all.shape()[2]};
  const int shift = all.dtype() == tensor::DType::uint8 ? kUnsignedZero : 0;
  RecurrentCodes codes{input, direction, {}, {}, {}};
  std::vector<std::byte> bytes(static_cast<size_t>(dims[0] * dims[1]));
  const std::byte* const from = all.bytes().data() + static_cast<size_t>(direction) * bytes.size();
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = from[i] ^ static_cast<std::byte>(shift);
  codes.weights = {tensor::DType::int8, dims, tensor::make_owned(std::move(bytes))};
  const auto scales = tensor::load_elements<double>(*layer.constants[scale]);
  const auto zeros = tensor::load_elements<double>(*layer.constants[scale + 1]);
  const auto of_column = [&](const std::vector<double>& factors, int64_t column) {
    const bool is_one = factors.size() == static_cast<size_t>(r.directions);
    return factors[static_cast<size_t>(is_one ? direction : direction * dims[1] + column)];
  };
  for (int64_t column = 0; column < dims[1]; ++column) {
    codes.scales.push_back(static_cast<float>(of_column(scales, column)));
    codes.zeros.push_back(static_cast<int32_t>(of_column(zeros, column)) - shift);
  }
  if (std::ranges::all_of(codes.zeros, [](int32_t zero) { return zero == 0; })) codes.zeros.clear();
  return codes;
}

}  // namespace assay::engine
