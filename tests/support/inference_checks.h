#pragma once

#include <algorithm>
#include <map>
#include <string>

#include <fmt/core.h>

#include "ir/walk.h"
#include "ops/inference.h"

namespace assay::testing_support {

// Compares texts in which symbols of sizes that only data decides, `unk__0`, may have other numbers: the same ones
// everywhere.
class SymbolPairs {
 public:
  bool match(std::string_view a, std::string_view b) {
    while (true) {
      const size_t left = std::min(a.find(kStem), a.size());
      const size_t right = std::min(b.find(kStem), b.size());
      if (a.substr(0, left) != b.substr(0, right)) return false;
      if (left == a.size() || right == b.size()) return left == a.size() && right == b.size();
      a.remove_prefix(left);
      b.remove_prefix(right);
      if (!pair(take_symbol(a), take_symbol(b))) return false;
    }
  }

 private:
  static constexpr std::string_view kStem = "unk__";

  static std::string_view take_symbol(std::string_view& text) {
    const size_t end = std::min(text.find_first_not_of("0123456789", kStem.size()), text.size());
    const std::string_view symbol = text.substr(0, end);
    text.remove_prefix(end);
    return symbol;
  }
  bool pair(std::string_view a, std::string_view b) {
    const auto [there, is_new] = there_.emplace(a, b);
    const auto [back, is_new_too] = back_.emplace(b, a);
    return there->second == b && back->second == a;
  }

  std::map<std::string, std::string, std::less<>> there_;
  std::map<std::string, std::string, std::less<>> back_;
};

// All that is known of a value, as text.
inline std::string knowledge_text(const ops::Inference& inference, ir::ValueId value) {
  std::string text = inference.type(value).text();
  if (const ops::Elements* elements = inference.elements(value)) text += " elements " + ops::text(elements->items);
  const tensor::Tensor* constant = inference.constant(value);
  if (constant && constant->dtype() != tensor::DType::string) {
    text += " constant ";
    for (const std::byte byte : constant->bytes()) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  }
  return text;
}

// What `kept` knows of values outside of functions and a new inference does not, or the other way round; empty:
// nothing.
inline std::string inference_fault(const ir::Model& model, const ops::Inference& kept) {
  ops::Inference fresh(model);
  fresh.run();
  SymbolPairs symbols;
  for (const ir::NodeId node : ir::live_nodes(model)) {
    if (model.root(model[node].graph) != model.main_graph()) continue;
    for (const ir::ValueId value : model[node].results) {
      if (!value) continue;
      const std::string expected = knowledge_text(fresh, value);
      const std::string seen = knowledge_text(kept, value);
      if (!symbols.match(seen, expected)) {
        return fmt::format("`{}` is {}, inferred again {}", model.text(model[value].name), seen, expected);
      }
    }
  }
  return {};
}

}  // namespace assay::testing_support
