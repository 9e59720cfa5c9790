#include "formats/plugin_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::formats {
namespace {

using results::AttributeValue;
using results::NamedAttribute;
using results::PluginInstance;
using results::PluginMatches;
using Scalar = std::variant<int64_t, float, std::string>;

template <typename T>
std::optional<T> read_number(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, number);
  if (text.empty() || result.ptr != end || result.ec != std::errc()) return std::nullopt;
  return number;
}

// Text without quotes that can only be a number or a tuple with a mistake; `1.0.0` is a version.
bool is_malformed(std::string_view text) {
  if (text.starts_with('(')) return true;
  const bool has_digit = text.find_first_of("0123456789") != std::string_view::npos;
  return has_digit && text.find_first_not_of("+-.0123456789eE, ") == std::string_view::npos &&
         std::ranges::count(text, '.') < 2;
}

Scalar parse_scalar(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::scalar) node.fail_here("a number, text, or a list of one of these");
  if (node.is_quoted) return node.text;
  if (node.text == "true" || node.text == "True") return int64_t{1};
  if (node.text == "false" || node.text == "False") return int64_t{0};
  const std::string_view digits = std::string_view(node.text).substr(node.text.starts_with('+') ? 1 : 0);
  if (const std::optional<int64_t> number = read_number<int64_t>(digits)) return *number;
  if (node.text == ".inf") return HUGE_VALF;
  if (node.text == "-.inf") return -HUGE_VALF;
  if (node.text == ".nan") return NAN;
  const bool starts_as_number =
      !digits.empty() && digits.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
  if (starts_as_number) {
    if (const std::optional<float> number = read_number<float>(digits)) return *number;
    if (read_number<double>(digits)) node.fail_here("a number within the range of an attribute");
  }
  if (is_malformed(node.text)) node.fail_here("a number, a list as [1, 2], or text in quotes");
  return node.text;
}

// Integers among floats become floats.
AttributeValue parse_list(const YamlNode& node) {
  if (node.items.empty()) return std::vector<int64_t>();
  std::vector<Scalar> items;
  for (const YamlNode& item : node.items) items.push_back(parse_scalar(item));
  size_t texts = 0;
  size_t integers = 0;
  for (const Scalar& item : items) {
    texts += std::holds_alternative<std::string>(item) ? 1 : 0;
    integers += std::holds_alternative<int64_t>(item) ? 1 : 0;
  }
  if (texts > 0 && texts < items.size()) node.fail_here("a list of numbers or a list of texts");
  if (texts > 0) {
    std::vector<std::string> list;
    for (const Scalar& item : items) list.push_back(std::get<std::string>(item));
    return list;
  }
  if (integers == items.size()) {
    std::vector<int64_t> list;
    for (const Scalar& item : items) list.push_back(std::get<int64_t>(item));
    return list;
  }
  std::vector<float> list;
  for (const Scalar& item : items) {
    const int64_t* const integer = std::get_if<int64_t>(&item);
    list.push_back(integer ? static_cast<float>(*integer) : std::get<float>(item));
  }
  return list;
}

std::string required_text(const YamlNode& map, std::string_view key) {
  const YamlNode* const node = map.find(key);
  if (!node) fail(ErrorCode::parse, "line {}: there is no `{}`", map.line, key);
  if (node->kind != YamlNode::Kind::scalar || node->text.empty()) node->fail_here(fmt::format("the {} as text", key));
  return node->text;
}

PluginInstance parse_instance(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::map) node.fail_here("an instance: inputs, outputs, attributes");
  PluginInstance instance;
  for (const auto& [key, value] : node.entries) {
    if (key == "inputs") {
      instance.inputs = parse_names(value);
    } else if (key == "outputs") {
      instance.outputs = parse_names(value);
    } else if (key != "attributes") {
      fail(ErrorCode::parse, "line {}: unknown key `{}`; expected inputs, outputs, attributes", value.line,
           printable(key));
    } else if (value.kind == YamlNode::Kind::map) {
      for (const auto& [name, item] : value.entries) instance.attributes.push_back({name, parse_attribute_value(item)});
    } else if (value.kind != YamlNode::Kind::null) {
      value.fail_here("attributes by name");
    }
  }
  if (instance.outputs.empty()) fail(ErrorCode::parse, "line {}: the instance has no outputs", node.line);
  return instance;
}

PluginMatches parse_plugin(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::map) node.fail_here("a plugin: name, op, instances");
  PluginMatches plugin;
  plugin.name = required_text(node, "name");
  plugin.op = required_text(node, "op");
  if (const YamlNode* const domain = node.find("domain")) plugin.domain = domain->text;
  const YamlNode* const instances = node.find("instances");
  if (!instances || instances->kind == YamlNode::Kind::null) return plugin;
  if (instances->kind != YamlNode::Kind::list) instances->fail_here("a list of instances");
  for (const YamlNode& item : instances->items) plugin.instances.push_back(parse_instance(item));
  return plugin;
}

std::string float_text(float value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string item_text(int64_t value) { return fmt::format("{}", value); }
std::string item_text(float value) { return float_text(value); }
std::string item_text(const std::string& value) { return yaml_text(value); }

template <typename T>
std::string item_text(const std::vector<T>& items) {
  std::vector<std::string> texts;
  for (const T& item : items) texts.push_back(item_text(item));
  return "[" + join(texts, ", ") + "]";
}

void write_names(std::string& out, std::string_view key, const std::vector<std::string>& names) {
  out += fmt::format("{}:{}\n", key, names.empty() ? " []" : "");
  for (const std::string& name : names) out += fmt::format("  - {}\n", yaml_text(name));
}

void write_instance(std::string& out, const PluginInstance& instance) {
  write_names(out, "- inputs", instance.inputs);
  write_names(out, "  outputs", instance.outputs);
  out += instance.attributes.empty() ? "  attributes: {}\n" : "  attributes:\n";
  for (const NamedAttribute& attribute : instance.attributes) {
    const std::string text = std::visit([](const auto& value) { return item_text(value); }, attribute.value);
    out += fmt::format("    {}: {}\n", yaml_text(attribute.name), text);
  }
}

}  // namespace

std::vector<std::string> parse_names(const YamlNode& node) {
  std::vector<std::string> names;
  if (node.kind == YamlNode::Kind::null) return names;
  if (node.kind != YamlNode::Kind::list) node.fail_here("a list of names");
  for (const YamlNode& item : node.items) {
    if (item.kind != YamlNode::Kind::scalar) item.fail_here("a name");
    names.push_back(item.text);
  }
  return names;
}

AttributeValue parse_attribute_value(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::list) return parse_list(node);
  AttributeValue value;
  std::visit([&](auto scalar) { value = std::move(scalar); }, parse_scalar(node));
  return value;
}

std::vector<PluginMatches> parse_plugin_config(std::string_view text) {
  std::vector<PluginMatches> plugins;
  for (const YamlNode& document : parse_yaml(text)) {
    if (document.kind != YamlNode::Kind::null) plugins.push_back(parse_plugin(document));
  }
  return plugins;
}

std::string plugin_config_text(const std::vector<PluginMatches>& plugins) {
  std::string out;
  for (const PluginMatches& plugin : plugins) {
    if (!out.empty()) out += "---\n";
    out += fmt::format("name: {}\nop: {}\n", yaml_text(plugin.name), yaml_text(plugin.op));
    if (!plugin.domain.empty()) out += fmt::format("domain: {}\n", yaml_text(plugin.domain));
    out += plugin.instances.empty() ? "instances: []\n" : "instances:\n";
    for (const PluginInstance& instance : plugin.instances) write_instance(out, instance);
  }
  return out;
}

}  // namespace assay::formats
