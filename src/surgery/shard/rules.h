#pragma once

#include <span>
#include <string_view>

#include "surgery/shard/region.h"

namespace assay::surgery {

// The requirement of an operator for splitting one of its results. Error (unsupported) if that cannot be done.
struct SplitRule {
  std::string_view op;
  std::string_view domain;  // `*`: any
  void (*follow)(Region& region, ir::NodeId node, uint32_t result, const Split& split);
  bool keeps_groups = false;  // a split of groups is passed on unchanged
};

std::span<const SplitRule> element_rules();  // element by element, and along one dim
std::span<const SplitRule> layout_rules();   // Reshape, Transpose, Concat, Slice, Split
std::span<const SplitRule> product_rules();  // products and (de)quantization
std::span<const SplitRule> attention_rules();
std::span<const SplitRule> rotary_rules();

// Throws Error (unsupported): a rule cannot split the node; `why` is the end of a sentence.
[[noreturn]] void refuse(const Region& region, ir::NodeId node, std::string_view why);

const SplitRule* find_rule(const ShapeFacts& facts, ir::NodeId node);
bool is_attention(const ShapeFacts& facts, ir::NodeId node);

// True if a region may end at this node; need_rows() adds its needs.
bool is_root(const ShapeFacts& facts, ir::NodeId node);
void need_rows(Region& region, ir::NodeId root);

}  // namespace assay::surgery
