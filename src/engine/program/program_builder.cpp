#include "engine/program/program_builder.h"

#include <algorithm>

#include "base/memory.h"
#include "base/text.h"
#include "engine/layers/form.h"
#include "engine/layers/quantization.h"
#include "engine/lowering/lower.h"
#include "engine/program/bodies.h"
#include "engine/program/views.h"
#include "ir/verify.h"
#include "ops/traits.h"
#include "tensor/derived.h"

namespace assay::engine {
namespace {

std::vector<ir::ValueId> captured_values(const ir::Model& model, ir::NodeId node) {
  std::set<ir::ValueId> found;
  std::vector<ir::GraphId> open = model.bodies(model[node]);
  while (!open.empty()) {
    const ir::GraphId body = open.back();
    open.pop_back();
    const auto note = [&](const ir::Node& inner) {
      for (const ir::Use& use : inner.operands) {
        if (use.value.valid() && model[use.value].graph == model.main_graph()) found.insert(use.value);
      }
    };
    for (const ir::NodeId inner : ir::nodes(model, body)) {
      note(model[inner]);
      for (const ir::GraphId deeper : model.bodies(model[inner])) open.push_back(deeper);
    }
    note(model[model[body].outputs_node]);
  }
  return {found.begin(), found.end()};
}

// The bytes of the constants that layers of the main graph read.
uint64_t constant_bytes(const ir::Model& model, const ops::Inference& inference) {
  std::set<const tensor::Tensor*> seen;
  uint64_t bytes = 0;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    for (const ir::Use& use : model[node].operands) {
      const tensor::Tensor* const constant = use.value.valid() ? constant_of(model, inference, use.value) : nullptr;
      if (constant != nullptr && seen.insert(constant).second) bytes += constant->size_bytes();
    }
  }
  return bytes;
}

}  // namespace

ProgramBuilder::ProgramBuilder(Program& program, const ProgramOptions& options)
    : program_(program), options_(options), model_(program.model_), kept_(options.kept.begin(), options.kept.end()) {
  for (size_t i = 0; i < program.devices_.count(); ++i) tactics_.emplace_back(program.devices_[i], options.tactics);
  for (const ir::Use& use : model_.outputs(model_.main_graph())) {
    if (use.value.valid()) outputs_.insert(use.value);
  }
}

void ProgramBuilder::build() {
  auto inference = std::make_unique<ops::Inference>(model_);
  inference->run();
  broken_ = broken_nodes(model_, *inference);
  program_.inference_ = std::move(inference);
  const uint64_t bytes = constant_bytes(model_, *program_.inference_);
  for (TacticSelector& tactics : tactics_) tactics.expect_constants(bytes);
  add_given_slots();
  const std::vector<Unit> units = find_units(model_, *program_.inference_, broken_);
  for (const Unit& unit : units) {
    if (unit.is_part) in_parts_.insert(unit.nodes.begin(), unit.nodes.end());
  }
  uint64_t done = 0;
  for (const Unit& unit : units) {
    unit.is_part ? add_part(unit.nodes) : add_node(unit.nodes.front());
    done += unit.nodes.size();
    if (options_.on_layer) options_.on_layer(done, model_[model_.main_graph()].node_count);
  }
  finish_outputs();
  place();
}

size_t ProgramBuilder::add_slot(Slot slot) {
  const size_t index = program_.slots_.size();
  slots_of_[slot.value].push_back(index);
  const bool is_plain = !slot.desc.exists() || has_layout(slot.desc, Layout::plain);
  if (is_plain && slot.device == host()) program_.plain_slots_.try_emplace(slot.value, index);
  program_.slots_.push_back(std::move(slot));
  return index;
}

void ProgramBuilder::add_given_slots() {
  const ir::Graph& graph = model_[model_.main_graph()];
  for (const ir::ValueId input : graph.inputs) {
    const size_t slot = add_slot({.place = Slot::Place::input,
                                  .value = input,
                                  .desc = find_desc(model_, *program_.inference_, input).value_or(TensorDesc()),
                                  .device = host()});
    if (options_.is_part) anywhere_.insert(slot);
  }
  for (const ir::ValueId value : graph.initializers) {
    const ir::Value& facts = model_[value];
    if (facts.kind == ir::ValueKind::input || model_[facts.constant].sparse) continue;
    const tensor::Tensor& tensor = model_[facts.constant].tensor;
    const bool is_simple = tensor::bit_width(tensor.dtype()) >= 8;
    add_slot({.place = Slot::Place::constant,
              .value = value,
              .desc = is_simple ? make_desc(tensor.dtype(), tensor.shape()) : TensorDesc(),
              .device = host(),
              .constant = &tensor});
  }
}

void ProgramBuilder::add_node(ir::NodeId node) {
  const std::optional<Layer> layer = broken_.contains(node) ? std::nullopt : find_layer(node);
  if (!layer || (!add_views(*layer) && !add_parts(*layer) && !add_layer(*layer))) add_reference(node);
}

std::optional<Layer> ProgramBuilder::find_layer(ir::NodeId node) const {
  std::optional<Layer> layer = engine::find_layer(model_, *program_.inference_, node);
  if (!layer) return std::nullopt;
  layer->is_strict = options_.is_strict;
  return layer;
}

bool ProgramBuilder::add_views(const Layer& layer) {
  if (layer.inputs.empty() || layer.constants[0] != nullptr) return false;
  const std::optional<Views> views = find_views(layer);
  if (!views) return false;
  const ir::ValueId operand = model_[layer.node].operands[0].value;
  size_t source = slots_of_.at(operand).front();
  if (!program_.slots_[source].desc.exists()) return false;
  const auto can_show = [&](const ViewOf& view) { return view(program_.slots_[source].desc).has_value(); };
  if (!std::ranges::all_of(*views, can_show))
    source = slot_in(operand, desc_to_show(layer, program_.slots_[source].desc), program_.slots_[source].device);
  for (size_t i = 0; i < views->size(); ++i) {
    const View view = (*views)[i](program_.slots_[source].desc).value();
    const ir::ValueId result = model_[layer.node].results[i];
    if (result.valid()) add_view(result, source, view.desc, view.offset);
  }
  return true;
}

void ProgramBuilder::add_view(ir::ValueId value, size_t source, TensorDesc desc, int64_t offset) {
  const Slot from = program_.slots_[source];
  const int64_t bits =
      offset * static_cast<int64_t>(tensor::bit_width(desc.dtype));  // negative: the operand is read backwards
  Slot view{.place = from.place, .value = value, .desc = std::move(desc), .device = from.device};
  view.base = from.base.value_or(source);
  view.offset = static_cast<uint64_t>(bits / 8) + (from.base ? from.offset : 0);
  add_slot(std::move(view));
}

Layout ProgramBuilder::layout_of(const Layer& layer, size_t device) const {
  const LayoutRule rule = this->device(device).layout_rule(layer);
  if (casts_for_pictures(layer, device)) return Layout::channels_last;
  if (rule != LayoutRule::follows) return rule == LayoutRule::plain ? Layout::plain : Layout::channels_last;
  // Channels last where the largest operand that is not constant already is.
  Layout layout = Layout::plain;
  int64_t largest = -1;
  for (const ir::Use& use : model_[layer.node].operands) {
    if (!use.value.valid() || !slots_of_.contains(use.value)) continue;
    const Slot& slot = program_.slots_[nearest_slot(use.value, device)];
    if (slot.place == Slot::Place::constant || slot.desc.count() <= largest || !slot.desc.exists()) continue;
    largest = slot.desc.count();
    const bool is_plain = has_layout(slot.desc, Layout::plain) || memory_order(slot.desc).back() != 1;
    layout = is_plain ? Layout::plain : Layout::channels_last;
  }
  return layout;
}

// True if the layer is a Cast or a QuantizeLinear of which all users want the channels innermost: converting and moving
// are one step then.
bool ProgramBuilder::casts_for_pictures(const Layer& layer, size_t device) const {
  constexpr size_t kLeastRank = 3;  // of pictures
  const ops::Traits& traits = ops::traits(model_, layer.nodes[0]);
  const bool casts =
      traits.is_cast() || (traits.encodes() && is_quantizer(model_, *program_.inference_, layer.nodes[0]));
  if (!this->device(device).rules().casts_into_other_layout || !layer.is_single() || !casts ||
      layer.outputs[0].dims.size() < kLeastRank)
    return false;
  bool is_used = false;
  for (const ir::Use& use : ir::uses(model_, model_[layer.node].results[0])) {
    if (model_[use.user].is_outputs || model_[use.user].graph != model_.main_graph()) return false;
    const std::optional<Layer> user = find_layer(use.user);
    if (!user || this->device(device).layout_rule(*user) != LayoutRule::channels_last) return false;
    is_used = true;
  }
  return is_used;
}

void ProgramBuilder::set_as_they_lie(Layer& layer, Layout outputs, size_t device) const {
  set_layouts(layer, outputs);
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const ir::ValueId value = model_[layer.node].operands[i].value;
    if (!value.valid() || layer.constants[i] != nullptr) continue;
    const TensorDesc desc = nearest_desc(value, device);
    layer.inputs[i] = desc.exists() ? desc : make_desc(layer.inputs[i].dtype, layer.inputs[i].dims);
  }
  if (this->device(device).layout_rule(layer) != LayoutRule::follows || casts_for_pictures(layer, device)) return;
  // A result like an operand of its shape, in whatever order that is.
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const TensorDesc& desc = layer.inputs[i];
    const bool leads = layer.constants[i] == nullptr && layer.outputs.size() == 1 && desc.dims == layer.outputs[0].dims;
    if (!leads || !is_dense(desc)) continue;
    layer.outputs[0].strides = desc.strides;
    return;
  }
}

void ProgramBuilder::set_layouts(Layer& layer, Layout layout) const {
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    TensorDesc& desc = layer.inputs[i];
    if (desc.exists() && layer.constants[i] == nullptr) desc = make_desc(desc.dtype, desc.dims, layout);
  }
  for (TensorDesc& desc : layer.outputs) {
    if (desc.exists()) desc = make_desc(desc.dtype, desc.dims, layout);
  }
}

// Operands as they lie if a kernel takes them so, otherwise in the layout that such layers like, otherwise plain.
ProgramBuilder::Choice ProgramBuilder::choose(Layer& layer, size_t device) {
  const Layout wanted = layout_of(layer, device);
  set_as_they_lie(layer, wanted, device);
  if (Choice choice = tactics_[device].choose(layer); choice.kernel) return choice;
  for (const Layout layout : {wanted, Layout::plain}) {
    set_layouts(layer, layout);
    if (Choice choice = tactics_[device].choose(layer); choice.kernel) return choice;
    if (wanted == Layout::plain) break;
  }
  return {};
}

void ProgramBuilder::require_replayed(const Layer& layer) const {
  const std::string_view replayed = tactics_.front().replayed(layer);
  if (!replayed.empty() && replayed != kReferenceTactic && replayed != kPartTactic) {
    const std::string missing = tactics_.front().missing(replayed);
    fail(ErrorCode::usage, "the tactic `{}` cannot compute the layer `{}`{}{}", printable(replayed),
         printable(layer_name(model_, layer.node)), missing.empty() ? "" : ": ", missing);
  }
}

// Kernels do not read what they have packed.
void ProgramBuilder::release_packed(const Layer& layer, const std::vector<bool>& is_packed) {
  constexpr uint64_t kLargeBytes = 1 << 20;
  uint64_t most_bytes = 0;
  for (size_t i = 0; i < is_packed.size(); ++i) {
    if (!is_packed[i]) continue;
    const tensor::Storage& storage = *layer.constants[i]->storage();
    tensor::let_go_of(storage);
    most_bytes = std::max(most_bytes, storage.size_bytes());
  }
  if (most_bytes >= kLargeBytes) return_freed_memory();
}

bool ProgramBuilder::add_layer(const Layer& layer) {
  form_of(layer);  // for all copies
  for (size_t device = 0; device < program_.devices_.count(); ++device) {
    const auto add = [&] { return add_layer_on(layer, device); };
    const bool is_added = device == host() ? add() : with_frame([&] { return ir::describe(model_, layer.node); }, add);
    if (is_added) return true;
  }
  require_replayed(layer);
  return false;
}

bool ProgramBuilder::add_layer_on(Layer layer, size_t device) {
  layer.packed = &weights_of(device);
  layer.permits_tf32 = options_.permits_tf32 && !options_.is_strict && this->device(device).rules().computes_tf32;
  std::optional<ConcatPlace> placed = place_of(layer, device);
  Choice choice = placed ? choose_at(layer, *placed, device) : Choice();
  if (!choice.kernel) {
    placed.reset();
    choice = choose(layer, device);
  }
  auto& [kernel, tactic, is_packed] = choice;
  if (!kernel) return false;
  if (!options_.shares_constants) release_packed(layer, is_packed);
  Step step{.node = layer.node, .tactic = std::move(tactic), .kernel = std::move(kernel)};
  step.is_packed = std::move(is_packed);
  step.device = device;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const ir::ValueId value = model_[layer.node].operands[i].value;
    step.inputs.push_back(value.valid() ? std::optional(slot_in(value, layer.inputs[i], device)) : std::nullopt);
  }
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    const ir::ValueId value = model_[layer.node].results[i];
    if (!value.valid()) {
      step.outputs.emplace_back();
      continue;
    }
    if (placed) {
      step.outputs.emplace_back(part_slot(value, *placed, device));
      continue;
    }
    const TensorDesc& desc = layer.outputs[i];
    step.outputs.push_back(
        add_slot({.place = is_given_out(value, desc, device) ? Slot::Place::output : Slot::Place::arena,
                  .value = value,
                  .desc = desc,
                  .device = device}));
  }
  uint64_t& workspace = program_.memory_[device].workspace;
  workspace = std::max(workspace, step.kernel->workspace_bytes());
  program_.steps_.push_back(std::move(step));
  return true;
}

size_t ProgramBuilder::readable_slot(ir::ValueId value) {
  const auto plain = program_.plain_slots_.find(value);
  if (plain != program_.plain_slots_.end()) return plain->second;
  const TensorDesc known = program_.slots_[slots_of_.at(value).front()].desc;
  return slot_in(value, make_desc(known.dtype, known.dims), host());
}

void ProgramBuilder::add_reference(ir::NodeId node) {
  Step step{.node = node, .tactic = std::string(kReferenceTactic), .kernel = nullptr};
  step.device = host();
  step.passes_operands =
      add_bodies(model_, *program_.inference_, node,
                 {program_.devices_, part_options(options_, program_.packed_, program_.uploaded_), program_.bodies_}) &&
      host() != 0;
  for (const ir::Use& use : model_[node].operands) {
    if (use.value.valid() && !slots_of_.contains(use.value)) {
      fail(ErrorCode::unsupported, "the engine cannot read the sparse tensor `{}`",
           printable(model_.text(model_[use.value].name)));
    }
    step.inputs.push_back(use.value.valid() ? std::optional(operand_slot(step, use.value)) : std::nullopt);
  }
  for (const ir::ValueId value : captured_values(model_, node)) {
    if (slots_of_.contains(value)) step.captured.emplace_back(value, operand_slot(step, value));
  }
  for (const ir::ValueId value : model_[node].results) {
    step.outputs.push_back(value.valid() ? std::optional(datum_slot(value)) : std::nullopt);
  }
  add_datum_step(std::move(step));
}

size_t ProgramBuilder::datum_slot(ir::ValueId value) {
  return add_slot({.place = Slot::Place::datum,
                   .value = value,
                   .desc = find_desc(model_, *program_.inference_, value).value_or(TensorDesc()),
                   .device = host()});
}

void ProgramBuilder::finish_output(ir::ValueId value) {
  if (options_.is_part)
    program_.plain_slots_[value] = passed_slot(value);
  else
    readable_slot(value);
}

// Outputs and kept values are given in the order of the model's dims.
void ProgramBuilder::finish_outputs() {
  for (const std::set<ir::ValueId>* values : {&outputs_, &kept_}) {
    for (const ir::ValueId value : *values) {
      if (slots_of_.contains(value)) finish_output(value);
    }
  }
  // Data shown by a view has to stay until it is given out.
  for (const ir::ValueId value : outputs_) {
    const auto slot = program_.plain_slots_.find(value);
    if (slot != program_.plain_slots_.end() && program_.slots_[slot->second].base) kept_.insert(value);
  }
}

}  // namespace assay::engine
