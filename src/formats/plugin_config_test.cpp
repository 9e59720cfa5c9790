#include "formats/plugin_config.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::formats {
namespace {

using results::PluginInstance;
using results::PluginMatches;

std::string refusal(std::string_view text) {
  try {
    parse_plugin_config(text);
    return "no error";
  } catch (const Error& error) {
    return error.line();
  }
}

TEST(PluginConfig, reads_back_what_it_writes) {
  PluginInstance instance{.inputs = {"x", "no", ""}, .outputs = {"y:0"}, .attributes = {}};
  instance.attributes = {{"i", int64_t{2}},
                         {"f", 2.0F},
                         {"s", std::string("2")},
                         {"il", std::vector<int64_t>{1, -2}},
                         {"fl", std::vector<float>{0.5F, 1e30F}},
                         {"sl", std::vector<std::string>{"a", "1"}}};
  const std::vector<PluginMatches> plugins = {{.name = "one", .op = "One", .domain = "d", .instances = {instance}},
                                              {.name = "two", .op = "Two", .domain = "", .instances = {}}};
  const std::vector<PluginMatches> back = parse_plugin_config(plugin_config_text(plugins));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].domain, "d");
  EXPECT_EQ(back[1].op, "Two");
  ASSERT_EQ(back[0].instances.size(), 1u);
  EXPECT_EQ(back[0].instances[0].inputs, instance.inputs);
  EXPECT_EQ(back[0].instances[0].outputs, instance.outputs);
  ASSERT_EQ(back[0].instances[0].attributes.size(), instance.attributes.size());
  for (size_t i = 0; i < instance.attributes.size(); ++i) {
    EXPECT_EQ(back[0].instances[0].attributes[i].value, instance.attributes[i].value) << instance.attributes[i].name;
  }
}

TEST(PluginConfig, refuses) {
  EXPECT_EQ(refusal("[]"), "line 1: expected a plugin: name, op, instances, found a list");
  EXPECT_EQ(refusal("name: a\n"), "line 1: there is no `op`");
  EXPECT_EQ(refusal("name: a\nop: A\ninstances: [{inputs: [x], outputs: []}]"), "line 3: the instance has no outputs");
  EXPECT_EQ(refusal("name: a\nop: A\ninstances: [{input: [x]}]"),
            "line 3: unknown key `input`; expected inputs, outputs, attributes");
  EXPECT_EQ(refusal("name: a\nop: A\ninstances: [{outputs: [x], attributes: {k: [1, a]}}]"),
            "line 3: expected a list of numbers or a list of texts, found a list");
  const auto with_value = [](std::string_view value) {
    return refusal(fmt::format("name: a\nop: A\ninstances: [{{outputs: [x], attributes: {{k: {}}}}}]", value));
  };
  for (const std::string_view word : {"1e", "--1", "1.5.", "(1)"}) {
    const bool is_version = word == "1.5.";
    EXPECT_EQ(with_value(word), is_version ? "no error"
                                           : fmt::format("line 3: expected a number, a list as [1, 2], or text in "
                                                         "quotes, found `{}`",
                                                         word));
  }
}

}  // namespace
}  // namespace assay::formats
