#include <algorithm>
#include <cmath>
#include <vector>

#include "ir/model.h"
#include "scene/make.h"
#include "scene/shown.h"
#include "scene/tree.h"

namespace assay::scene {
namespace {

class Typing {
 public:
  Typing(const ir::Model& model, MadeScene& made) : model_(model), types_(made.types), made_(made) {}
  void run();

 private:
  void number_types();
  void fill_node(uint32_t item, ir::NodeId node);
  void add_chip(uint32_t item, ir::ValueId value);
  bool is_clutter(ir::NodeId node) const;
  double bytes_of(ir::ValueId value) const { return types_.bytes[types_.of_value[value.index]]; }
  void sum_up();

  const ir::Model& model_;
  const FoundTypes& types_;
  MadeScene& made_;
};

// Numbers types in the order in which the values of the scene have them.
void Typing::number_types() {
  results::Scene& scene = made_.scene;
  std::vector<uint32_t> numbers(types_.texts.size(), kNoItem);
  scene.value_types.reserve(made_.values.size());
  for (const ir::ValueId value : made_.values) {
    const uint32_t text = types_.of_value[value.index];
    if (numbers[text] == kNoItem) {
      numbers[text] = static_cast<uint32_t>(scene.types.size());
      add_shown(scene.types, types_.texts[text]);
    }
    scene.value_types.push_back(numbers[text]);
  }
}

// True if there are results, and all of them are small whole numbers from which shapes are computed.
bool Typing::is_clutter(ir::NodeId node) const {
  for (const ir::ValueId result : model_[node].results) {
    if (result && types_.is_short[types_.of_value[result.index]] == 0) return false;
  }
  return !model_[node].results.empty();
}

// A constant as an operand: its name, shape and type.
void Typing::add_chip(uint32_t item, ir::ValueId operand) {
  const ir::Value& value = model_[operand];
  std::string text = shown(model_.text(value.name)) + " ";
  if (value.constant && !model_[value.constant].sparse) {
    const tensor::Tensor& tensor = model_[value.constant].tensor;
    for (size_t i = 0; i < tensor.shape().size(); ++i) text += (i > 0 ? "x" : "") + std::to_string(tensor.shape()[i]);
    text += tensor.shape().empty() ? "" : " ";
    text += tensor::name(tensor.dtype());
  } else {
    text += types_.text(operand);
  }
  made_.scene.chip_items.push_back(item);
  made_.scene.chips.add(text);
}

void Typing::fill_node(uint32_t item, ir::NodeId id) {
  results::SceneItems& items = made_.scene.items;
  const ir::Node& node = model_[id];
  if (is_clutter(id)) items.flags[item] |= results::kIsClutter;
  items.macs[item] = types_.macs[id.index];
  if ((items.flags[item] & results::kHasConstants) != 0) {
    for (const ir::Use& use : node.operands) {
      if (!use.value || !is_constant(model_, use.value)) continue;
      add_chip(item, use.value);
      const ir::TensorId constant = model_[use.value].constant;
      if (constant) items.params[item] += static_cast<double>(model_[constant].tensor.count());
    }
  }
  for (const ir::ValueId result : node.results) {
    if (result) items.bytes[item] += bytes_of(result);
  }
}

// Groups have the sums of what is in them, as far as it is known.
void Typing::sum_up() {
  results::SceneItems& items = made_.scene.items;
  for (size_t item = items.size(); item-- > 1;) {
    const uint32_t parent = items.parents[item];
    for (std::vector<double>* column : {&items.macs, &items.params, &items.bytes}) {
      if (!std::isnan((*column)[item])) (*column)[parent] += (*column)[item];
    }
  }
}

void Typing::run() {
  results::Scene& scene = made_.scene;
  results::SceneItems& items = scene.items;
  for (std::vector<double>* column : {&items.macs, &items.params, &items.bytes}) column->resize(items.size());
  for (uint32_t item = 0; item < made_.nodes.size(); ++item) {
    if (made_.nodes[item]) fill_node(item, made_.nodes[item]);
    if ((item + 1) % kBoxesBetweenReleases == 0) release_source(model_);
  }
  for (size_t i = 0; i < made_.values.size(); ++i) {
    const uint32_t producer = scene.value_producers[i];
    if (static_cast<ItemKind>(items.kinds[producer]) == ItemKind::input) {
      items.bytes[producer] = bytes_of(made_.values[i]);
    }
  }
  sum_up();
  number_types();
}

}  // namespace

void add_types(const ir::Model& model, FoundTypes types, MadeScene& made) {
  made.types = std::move(types);
  Typing(model, made).run();
}

}  // namespace assay::scene
