#include "surgery/shard/rules.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ir/verify.h"

namespace assay::surgery {
namespace {

const SplitRule* find_in(std::span<const SplitRule> rules, const ShapeFacts& facts, ir::NodeId node) {
  const auto found = std::ranges::find_if(rules, [&](const SplitRule& rule) {
    return rule.op == facts.op(node) && (rule.domain == "*" || rule.domain == facts.domain(node));
  });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace

void refuse(const Region& region, ir::NodeId node, std::string_view why) {
  fail(ErrorCode::unsupported, "{} {}", ir::describe(region.facts().model(), node), why);
}

const SplitRule* find_rule(const ShapeFacts& facts, ir::NodeId node) {
  for (const std::span<const SplitRule> rules :
       {element_rules(), layout_rules(), product_rules(), attention_rules(), rotary_rules()}) {
    if (const SplitRule* const rule = find_in(rules, facts, node)) return rule;
  }
  return nullptr;
}

bool is_attention(const ShapeFacts& facts, ir::NodeId node) {
  return find_in(attention_rules(), facts, node) != nullptr;
}

}  // namespace assay::surgery
