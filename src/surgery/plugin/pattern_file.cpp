#include "surgery/plugin/pattern_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "base/error.h"
#include "base/text.h"
#include "base/yaml.h"
#include "formats/plugin_config.h"
#include "ops/traits.h"

namespace assay::surgery {
namespace {

using formats::parse_attribute_value;
using formats::parse_names;

void check_keys(const YamlNode& node, std::span<const std::string_view> known, std::string_view what) {
  if (node.kind != YamlNode::Kind::map) node.fail_here(what);
  const std::vector<std::string> words(known.begin(), known.end());
  for (const auto& [key, value] : node.entries) {
    if (std::ranges::find(words, key) != words.end()) continue;
    const std::optional<std::string> near = did_you_mean(key, words);
    fail(ErrorCode::parse, "line {}: unknown key `{}`; {}", value.line, printable(key),
         near ? fmt::format("did you mean `{}`?", *near) : "expected one of " + join(words, ", "));
  }
}

std::string parse_text(const YamlNode& node, std::string_view what) {
  if (node.kind != YamlNode::Kind::scalar) node.fail_here(what);
  return node.text;
}

std::string text_of(const YamlNode& map, std::string_view key, std::string_view otherwise) {
  const YamlNode* const node = map.find(key);
  return node ? parse_text(*node, key) : std::string(otherwise);
}

bool flag_of(const YamlNode& map, std::string_view key, bool otherwise) {
  const YamlNode* const node = map.find(key);
  if (!node) return otherwise;
  const std::string word = to_lower(node->text);
  if (word != "true" && word != "false") node->fail_here("true or false");
  return word == "true";
}

std::vector<std::string> names_of(const YamlNode& map, std::string_view key) {
  const YamlNode* const node = map.find(key);
  return node ? parse_names(*node) : std::vector<std::string>();
}

double parse_bound(const YamlNode& node) {
  double number = 0;
  const char* const end = node.text.data() + node.text.size();
  const std::from_chars_result result = std::from_chars(node.text.data(), end, number);
  if (node.text.empty() || result.ptr != end || result.ec != std::errc()) node.fail_here("a number");
  return number;
}

void add_allowed(match::AttributeRule& rule, const YamlNode& node) {
  if (node.kind == YamlNode::Kind::null) {
    rule.may_be_absent = true;
  } else {
    rule.any_of.push_back(parse_attribute_value(node));
  }
}

// `axis: -1`, `axis: {any: [-1, 3, ~]}`, `alpha: {min: 0, max: 1}`, `axis: {}`.
match::AttributeRule parse_rule(const std::string& name, const YamlNode& node) {
  static constexpr std::array<std::string_view, 3> kKeys = {"any", "min", "max"};
  match::AttributeRule rule{.name = name, .any_of = {}, .least = {}, .most = {}};
  if (node.kind != YamlNode::Kind::map) {
    add_allowed(rule, node);
    return rule;
  }
  check_keys(node, kKeys, "what the attribute may be");
  if (const YamlNode* const any = node.find("any")) {
    if (any->kind != YamlNode::Kind::list || any->items.empty()) any->fail_here("a list of values");
    for (const YamlNode& item : any->items) add_allowed(rule, item);
  }
  if (const YamlNode* const least = node.find("min")) rule.least = parse_bound(*least);
  if (const YamlNode* const most = node.find("max")) rule.most = parse_bound(*most);
  return rule;
}

std::vector<std::string> parse_ops(const YamlNode& node) {
  const YamlNode* const op = node.find("op");
  if (!op) fail(ErrorCode::parse, "line {}: the node has no `op`", node.line);
  if (op->kind == YamlNode::Kind::list) return parse_names(*op);
  return {parse_text(*op, "an operator, or a list of them")};
}

match::PatternNode parse_node(const YamlNode& node) {
  static constexpr std::array<std::string_view, 8> kKeys = {"name",    "op",    "domain",      "inputs",
                                                            "outputs", "where", "commutative", "optional"};
  check_keys(node, kKeys, "a node: op, inputs, outputs");
  match::PatternNode made;
  made.name = text_of(node, "name", "");
  made.ops = parse_ops(node);
  if (node.find("domain")) made.domain = text_of(node, "domain", "");
  made.inputs = names_of(node, "inputs");
  made.outputs = names_of(node, "outputs");
  const auto commutes_in = [](const std::string& op) { return ops::traits("", op).is_commutative; };
  const bool has_two = made.inputs.size() == 2 && std::ranges::find(made.inputs, "") == made.inputs.end();
  const bool commutes = has_two && std::ranges::all_of(made.ops, commutes_in);
  made.is_commutative = flag_of(node, "commutative", commutes);
  made.is_optional = flag_of(node, "optional", false);
  const YamlNode* const where = node.find("where");
  if (!where) return made;
  if (where->kind != YamlNode::Kind::map) where->fail_here("attributes by name");
  for (const auto& [name, rule] : where->entries) made.rules.push_back(parse_rule(name, rule));
  return made;
}

// `axis: -1`, or `axis: {from: softmax.axis, default: -1}`.
PluginAttribute parse_attribute(const std::string& name, const YamlNode& node) {
  static constexpr std::array<std::string_view, 2> kKeys = {"from", "default"};
  PluginAttribute attribute{.name = name, .value = {}, .node = {}, .attribute = {}};
  if (node.kind != YamlNode::Kind::map) {
    attribute.value = parse_attribute_value(node);
    return attribute;
  }
  check_keys(node, kKeys, "a value, or where it comes from");
  const std::string source = text_of(node, "from", "");
  const size_t dot = source.rfind('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == source.size()) node.fail_here("from: NODE.ATTRIBUTE");
  attribute.node = source.substr(0, dot);
  attribute.attribute = source.substr(dot + 1);
  if (const YamlNode* const value = node.find("default")) attribute.value = parse_attribute_value(*value);
  return attribute;
}

match::Pattern parse_pattern(const YamlNode& root) {
  match::Pattern pattern;
  pattern.inputs = names_of(root, "inputs");
  pattern.constants = names_of(root, "constants");
  pattern.outputs = names_of(root, "outputs");
  const YamlNode* const nodes = root.find("nodes");
  if (!nodes) fail(ErrorCode::parse, "the pattern has no `nodes`");
  if (nodes->kind != YamlNode::Kind::list) nodes->fail_here("a list of nodes");
  for (const YamlNode& node : nodes->items) pattern.nodes.push_back(parse_node(node));
  match::check(pattern);
  return pattern;
}

// Checks that the pattern has what the node of the plugin gets from its nodes.
void check_source(const PluginAttribute& attribute, const match::Pattern& pattern) {
  if (attribute.node.empty()) return;
  if (std::ranges::find(pattern.nodes, attribute.node, &match::PatternNode::name) != pattern.nodes.end()) return;
  fail(ErrorCode::parse, "the attribute `{}` is taken from `{}`, and no node of the pattern has this name",
       printable(attribute.name), printable(attribute.node));
}

std::vector<PluginAttribute> parse_attributes(const YamlNode& root, const match::Pattern& pattern) {
  std::vector<PluginAttribute> parsed;
  const YamlNode* const attributes = root.find("attributes");
  if (!attributes) return parsed;
  if (attributes->kind != YamlNode::Kind::map) attributes->fail_here("attributes by name");
  for (const auto& [name, value] : attributes->entries) parsed.push_back(parse_attribute(name, value));
  for (const PluginAttribute& attribute : parsed) check_source(attribute, pattern);
  return parsed;
}

}  // namespace

PluginPattern parse_pattern_file(std::string_view text, std::string_view name) {
  static constexpr std::array<std::string_view, 8> kKeys = {"name",      "op",      "domain", "inputs",
                                                            "constants", "outputs", "nodes",  "attributes"};
  const std::vector<YamlNode> documents = parse_yaml(text);
  if (documents.size() != 1) fail(ErrorCode::parse, "expected one pattern, found {} documents", documents.size());
  const YamlNode& root = documents[0];
  check_keys(root, kKeys, "a pattern: op, inputs, outputs, nodes");
  PluginPattern plugin;
  plugin.name = text_of(root, "name", name);
  plugin.op = text_of(root, "op", "");
  plugin.domain = text_of(root, "domain", "");
  if (plugin.op.empty()) fail(ErrorCode::parse, "there is no `op`: the type of the node that replaces the subgraph");
  plugin.pattern = parse_pattern(root);
  plugin.attributes = parse_attributes(root, plugin.pattern);
  return plugin;
}

results::PluginInstance instance_of(const ir::Model& model, const PluginPattern& plugin, const match::Match& match) {
  const auto name_of = [&](ir::ValueId id) { return id ? std::string(model.text(model[id].name)) : std::string(); };
  const std::vector<match::PatternNode>& nodes = plugin.pattern.nodes;
  results::PluginInstance instance;
  for (const ir::ValueId input : match.inputs) instance.inputs.push_back(name_of(input));
  for (const ir::ValueId output : match.outputs) instance.outputs.push_back(name_of(output));
  for (const PluginAttribute& wanted : plugin.attributes) {
    std::optional<ir::AttributeValue> value = wanted.value;
    const auto node = std::ranges::find(nodes, wanted.node, &match::PatternNode::name);
    const ir::NodeId id = wanted.node.empty() || node == nodes.end()
                              ? ir::NodeId{}
                              : match.nodes[static_cast<size_t>(node - nodes.begin())];
    const ir::Attribute* const attribute = id ? model.find_attribute(model[id], wanted.attribute) : nullptr;
    if (attribute) value = ir::attribute_value(model, *attribute);
    if (value) instance.attributes.push_back({wanted.name, *value});
  }
  return instance;
}

}  // namespace assay::surgery
