#include "engine/layers/recurrence.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

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
  r.hidden = layer.inputs[Recurrence::kR].dims[2];
  r.directions = layer.inputs[Recurrence::kW].dims[0];
  for (const TensorDesc& desc : layer.inputs) r.has_inputs.push_back(desc.exists());
}

bool has_known_types(const Layer& layer) {
  const auto is_known = [&](const TensorDesc& desc, tensor::DType wanted) {
    return !desc.exists() || (desc.dtype == wanted && desc.count() > 0);
  };
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const bool are_lengths = i == static_cast<size_t>(Recurrence::kLengths);
    if (!is_known(layer.inputs[i], are_lengths ? tensor::DType::int32 : tensor::DType::float32)) return false;
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
  const auto* const kind =
      std::ranges::find_if(kKinds, [&](const Kind& known) { return layer.starts_with(known.name); });
  if (!layer.is_single() || kind == kKinds.end() || !has_known_types(layer)) return std::nullopt;
  if (layer.constants[Recurrence::kW] == nullptr || layer.constants[Recurrence::kR] == nullptr) return std::nullopt;
  const ops::Node facts = layer.facts(layer.nodes[0]);
  Recurrence r;
  r.op = kind->op;
  r.gates = kind->gates;
  set_dims(layer, facts, r);
  r.goes_back = facts.string("direction", "forward") == "reverse";
  r.resets_after = r.op == Recurrence::Operator::gru && facts.flag("linear_before_reset");
  RecurrentCell cell{.couples = facts.flag("input_forget")};
  const auto clip = static_cast<float>(facts.floating("clip", 0));
  cell.clip = clip > 0 ? clip : std::numeric_limits<float>::infinity();
  r.cells.assign(static_cast<size_t>(r.directions), cell);
  return set_functions(facts, *kind, r) ? std::optional(r) : std::nullopt;
}

}  // namespace assay::engine
