#include "scene/found_types.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "analysis/cost.h"
#include "ir/walk.h"

namespace assay::scene {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMostOfShape = 16;  // elements

double number(const ops::Dim& dim) {
  const std::optional<int64_t> value = dim.number();
  return value ? static_cast<double>(*value) : kNotKnown;
}

// `float32[1,64,56,56]`
std::string type_text(const ops::Type& type) {
  if (!type.known) return "";
  std::string text = type.text();
  std::erase(text, ' ');
  return text;
}

// Small whole numbers from which shapes are computed.
bool is_short(const ops::Type& type) {
  if (!type.is_tensor() || type.dtype != tensor::DType::int64 || !type.dims || type.dims->size() > 1) return false;
  if (type.dims->empty()) return true;
  const std::optional<int64_t> count = type.dims->front().number();
  return count && *count <= kMostOfShape;
}

// Numbers types; each text is made once.
class TypeFinder {
 public:
  TypeFinder(const ir::Model& model, const ops::Inference& inference) : model_(model), inference_(inference) {}
  FoundTypes run();

 private:
  uint32_t number_of(ir::ValueId value);
  uint32_t add(ir::ValueId value);

  const ir::Model& model_;
  const ops::Inference& inference_;
  FoundTypes found_;
  std::unordered_map<std::string, uint32_t> by_text_;
  std::unordered_map<std::string, uint32_t> by_numbers_;  // bytes of element type and dims
  std::string key_;
};

uint32_t TypeFinder::add(ir::ValueId value) {
  const ops::Type& type = inference_.type(value);
  std::string text = type_text(type);
  const auto [entry, is_new] = by_text_.try_emplace(std::move(text), static_cast<uint32_t>(found_.texts.size()));
  if (is_new) {
    found_.texts.add(entry->first);
    found_.bytes.push_back(number(analysis::type_bytes(type)));
    found_.is_short.push_back(is_short(type) ? 1 : 0);
  }
  return entry->second;
}

uint32_t TypeFinder::number_of(ir::ValueId value) {
  const ops::Type& type = inference_.type(value);
  const auto is_number = [](const ops::Dim& dim) { return dim.is_number(); };
  if (!type.is_tensor() || !type.dims || !std::ranges::all_of(*type.dims, is_number)) return add(value);
  key_.assign(1, static_cast<char>(type.dtype));
  for (const ops::Dim& dim : *type.dims) {
    const int64_t number = *dim.number();
    key_.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  const auto known = by_numbers_.find(key_);
  if (known != by_numbers_.end()) return known->second;
  return by_numbers_.try_emplace(key_, add(value)).first->second;
}

FoundTypes TypeFinder::run() {
  found_.texts.add("");
  found_.bytes.push_back(kNotKnown);
  found_.is_short.push_back(0);
  by_text_.try_emplace("", 0);
  found_.of_value.assign(model_.value_slots(), 0);
  for (const ir::ValueId value : ir::live_values(model_)) {
    found_.of_value[value.index] = number_of(value);
    if (model_[value].constant) continue;
    if (const tensor::Tensor* constant = inference_.constant(value)) found_.folded.emplace(value, *constant);
  }
  found_.macs.assign(model_.node_slots(), 0);
  for (const ir::NodeId node : ir::live_nodes(model_)) found_.macs[node.index] = number(inference_.macs(node));
  return std::move(found_);
}

}  // namespace

FoundTypes find_types(const ir::Model& model, const ops::Inference& inference) {
  return TypeFinder(model, inference).run();
}

}  // namespace assay::scene
