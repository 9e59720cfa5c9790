#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "inspect/model_diff/parts.h"
#include "inspect/model_overview.h"

namespace assay::inspect {
namespace {

using ir::Attribute;
using ir::AttributeType;
using results::FactChange;

constexpr size_t kMostItems = 20;  // of a list that is written out

template <typename Items, typename ToText>
std::string list_text(const Items& items, ToText to_text) {
  std::string text = "[";
  for (size_t i = 0; i < std::min(items.size(), kMostItems); ++i) text += (i == 0 ? "" : ", ") + to_text(items[i]);
  if (items.size() > kMostItems) text += fmt::format(", … {} items", items.size());
  return text + "]";
}

std::string tensor_text(const ir::TensorEntry& entry) {
  const tensor::Tensor& tensor = entry.sparse ? entry.sparse->values : entry.tensor;
  const tensor::Shape& shape = entry.sparse ? entry.sparse->dims : tensor.shape();
  return fmt::format("{}{}[{}]", entry.sparse ? "sparse " : "", tensor::name(tensor.dtype()), fmt::join(shape, ","));
}

bool is_single(AttributeType type) {
  switch (type) {
    case AttributeType::floating:
    case AttributeType::integer:
    case AttributeType::string:
    case AttributeType::tensor:
    case AttributeType::sparse_tensor:
    case AttributeType::graph:
    case AttributeType::type:
      return true;
    default:
      return false;
  }
}

template <typename Items, typename ToText>
std::string items_text(const Attribute& attribute, const Items& items, ToText to_text) {
  return is_single(attribute.type()) && !items.empty() ? to_text(items[0]) : list_text(items, to_text);
}

std::string attribute_text(const ir::Model& model, const Attribute& attribute) {
  if (attribute.is_reference()) return fmt::format("@{}", model.text(attribute.reference_target()));
  const auto symbol_text = [&](ir::Symbol symbol) { return python_string(model.text(symbol)); };
  switch (attribute.type()) {
    case AttributeType::undefined:
      return "undefined";
    case AttributeType::integer:
    case AttributeType::integers:
      return items_text(attribute, attribute.integers(), [](int64_t item) { return fmt::format("{}", item); });
    case AttributeType::floating:
    case AttributeType::floats:
      return items_text(attribute, attribute.floats(), [](float item) { return fmt::format("{}", item); });
    case AttributeType::string:
    case AttributeType::strings:
      return items_text(attribute, attribute.strings(), symbol_text);
    case AttributeType::graph:
    case AttributeType::graphs:
      return items_text(attribute, attribute.graphs(),
                        [&](ir::GraphId body) { return fmt::format("graph of {} node(s)", model[body].node_count); });
    case AttributeType::type:
    case AttributeType::types:
      return items_text(attribute, attribute.types(), [&](ir::TypeId type) { return type_text(model, type); });
    default:
      return items_text(attribute, attribute.tensors(), [&](ir::TensorId id) { return tensor_text(model[id]); });
  }
}

std::string distance_text(const results::TensorDistance& distance) {
  const std::string counts = fmt::format("{} of {} elements differ", distance.differing_count, distance.count);
  return distance.numeric ? fmt::format("{}, max abs {:.6g}", counts, distance.max_abs) : counts;
}

class AttributeDiff {
 public:
  explicit AttributeDiff(const DiffContext& context) : context_(context) {}

  // Empty: they are the same.
  std::optional<FactChange> compare(const Attribute& a, const Attribute& b) {
    note_.clear();
    if (same(a, b)) return {};
    const std::string what = fmt::format("attribute `{}`", printable(context_.a.text(a.name())));
    return FactChange{what, attribute_text(context_.a, a), attribute_text(context_.b, b), note_};
  }

 private:
  bool same(const Attribute& a, const Attribute& b) {
    if (a.type() != b.type() || a.is_reference() != b.is_reference()) return false;
    if (a.is_reference()) return same_text(a.reference_target(), b.reference_target());
    switch (a.type()) {
      case AttributeType::undefined:
        return true;
      case AttributeType::integer:
      case AttributeType::integers:
        return std::ranges::equal(a.integers(), b.integers());
      case AttributeType::floating:
      case AttributeType::floats:
        return std::ranges::equal(a.floats(), b.floats(), same_bits);
      case AttributeType::string:
      case AttributeType::strings:
        return std::ranges::equal(a.strings(), b.strings(), [&](auto x, auto y) { return same_text(x, y); });
      case AttributeType::graph:
      case AttributeType::graphs:
        return a.graphs().size() == b.graphs().size();
      case AttributeType::type:
      case AttributeType::types:
        return same_types(a, b);
      default:
        return same_tensors(a, b);
    }
  }

  static bool same_bits(float x, float y) { return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y); }
  bool same_text(ir::Symbol a, ir::Symbol b) const { return context_.a.text(a) == context_.b.text(b); }

  bool same_types(const Attribute& a, const Attribute& b) const {
    TypeComparison types(context_);
    return std::ranges::equal(a.types(), b.types(), [&](ir::TypeId x, ir::TypeId y) { return types.same(x, y); });
  }

  bool same_tensors(const Attribute& a, const Attribute& b) {
    return std::ranges::equal(a.tensors(), b.tensors(), [&](ir::TensorId x, ir::TensorId y) {
      const std::variant<bool, Error> same = attempt([&] { return same_tensor(context_.a[x], context_.b[y]); });
      if (const Error* error = std::get_if<Error>(&same)) note_ = error->line();
      return std::holds_alternative<bool>(same) && std::get<bool>(same);
    });
  }

  bool same_tensor(const ir::TensorEntry& a, const ir::TensorEntry& b) {
    if (!same_tensor_type(a, b)) return false;
    if (same_elements(a, b)) return true;
    const results::TensorDistance distance = tensor_distance(a, b, context_.options.tolerance);
    note_ = distance_text(distance);
    return distance.differing_count == 0;
  }

  const DiffContext& context_;
  std::string note_;
};

const Attribute* find(const ir::Model& model, std::span<const Attribute> attributes, std::string_view name) {
  for (const Attribute& attribute : attributes) {
    if (model.text(attribute.name()) == name) return &attribute;
  }
  return nullptr;
}

}  // namespace

void diff_attributes(const DiffContext& context, std::span<const Attribute> a, std::span<const Attribute> b,
                     std::vector<FactChange>& changes) {
  AttributeDiff difference(context);
  for (const Attribute& attribute : a) {
    const std::string_view name = context.a.text(attribute.name());
    const Attribute* const other = find(context.b, b, name);
    if (!other) {
      changes.push_back({fmt::format("attribute `{}`", printable(name)), attribute_text(context.a, attribute), {}, {}});
    } else if (std::optional<FactChange> change = difference.compare(attribute, *other)) {
      changes.push_back(std::move(*change));
    }
  }
  for (const Attribute& attribute : b) {
    const std::string_view name = context.b.text(attribute.name());
    if (find(context.a, a, name)) continue;
    changes.push_back({fmt::format("attribute `{}`", printable(name)), {}, attribute_text(context.b, attribute), {}});
  }
}

}  // namespace assay::inspect
