#include "debug/causes/layer_trial.h"

#include <algorithm>

#include "base/error.h"
#include "tensor/casts.h"

namespace assay::debug {
namespace {

constexpr int kMostFolded = 8;  // nodes in a row
constexpr uint64_t kLeastMemory = uint64_t{1} << 20;
constexpr uint64_t kMemoryTimes = 8;  // of the operands and the result

bool is_constant(const ir::Model& model, ir::ValueId value, int depth) {
  if (!value) return true;
  if (model[value].constant) return true;
  const ir::NodeId node = model[value].producer;
  if (!node || depth == 0 || model.text(model[node].op).starts_with("Random")) return false;
  if (!model.bodies(model[node]).empty()) return false;
  return std::ranges::all_of(model[node].operands,
                             [&](const ir::Use& use) { return is_constant(model, use.value, depth - 1); });
}

}  // namespace

bool is_constant(const ir::Model& model, ir::ValueId value) { return value && is_constant(model, value, kMostFolded); }

Datum with_integers(const Datum& like, const std::vector<int64_t>& numbers) {
  const tensor::DType dtype = like.tensor().dtype();
  std::vector<std::byte> bytes(tensor::packed_bytes(dtype, numbers.size()).value_or(0));
  tensor::store(dtype, std::span<const int64_t>(numbers), 0, bytes);
  return Datum(tensor::Tensor(dtype, like.tensor().shape(), tensor::make_owned(std::move(bytes))));
}

LayerTrial::LayerTrial(const ir::Model& model, const Accused& accused) : model_(model.copy()), accused_(accused) {
  uint64_t count = accused.given.tensor().count();
  for (const auto& [value, datum] : accused.operands) count += datum.is_tensor() ? datum.tensor().count() : 0;
  max_memory_bytes_ = kLeastMemory + kMemoryTimes * count * sizeof(double);
}

Datum LayerTrial::operand(ir::ValueId value) const {
  const auto found = std::ranges::find(accused_.operands, value, &std::pair<ir::ValueId, Datum>::first);
  return found == accused_.operands.end() ? Datum() : found->second;
}

Datum LayerTrial::operand_at(size_t index) const {
  const std::span<const ir::Use> uses = node().operands;
  return index < uses.size() && uses[index].value ? operand(uses[index].value) : Datum();
}

std::optional<Numbers> LayerTrial::with(const OperandSource& operands) const {
  const std::variant<std::vector<Datum>, Error> made =
      attempt([&] { return LayerOracle(model_, max_memory_bytes_).exact(accused_.node, operands); });
  const std::vector<Datum>* const results = std::get_if<std::vector<Datum>>(&made);
  if (results == nullptr || accused_.result >= results->size()) return std::nullopt;
  const Datum& result = (*results)[accused_.result];
  if (!is_numeric(result) || result.tensor().shape() != accused_.given.tensor().shape()) return std::nullopt;
  return numbers_of(result);
}

std::optional<Numbers> LayerTrial::with_operand(ir::ValueId value, const Datum& other) const {
  return with([&](ir::ValueId wanted) { return wanted == value ? other : operand(wanted); });
}

std::optional<Numbers> LayerTrial::with_operands(const std::vector<ir::ValueId>& operands) {
  std::vector<ir::ValueId> before;
  for (const ir::Use& use : node().operands) before.push_back(use.value);
  ir::Edit edit(model_);
  edit.set_operands(accused_.node, operands);
  std::optional<Numbers> made = with([this](ir::ValueId value) { return operand(value); });
  edit.set_operands(accused_.node, before);
  return made;
}

std::optional<Numbers> LayerTrial::with_attributes(const std::vector<ir::Attribute>& changed) {
  const std::vector<ir::Attribute> before(node().attributes.begin(), node().attributes.end());
  ir::Edit edit(model_);
  for (const ir::Attribute& attribute : changed) edit.set_attribute(accused_.node, attribute);
  std::optional<Numbers> made = with([this](ir::ValueId value) { return operand(value); });
  edit.set_attributes(accused_.node, before);
  return made;
}

std::optional<Numbers> LayerTrial::as_operator(std::string_view op) {
  const ir::Symbol own = node().op, domain = node().domain;
  ir::Edit edit(model_);
  edit.set_op(accused_.node, edit.intern(op));
  std::optional<Numbers> made = with([this](ir::ValueId value) { return operand(value); });
  edit.set_op(accused_.node, own, domain);
  return made;
}

}  // namespace assay::debug
