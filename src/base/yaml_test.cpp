#include "base/yaml.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay {
namespace {

std::string refusal(std::string_view text) {
  try {
    parse_yaml(text);
    return "no error";
  } catch (const Error& error) {
    return error.line();
  }
}

TEST(Yaml, documents_lists_and_maps) {
  const std::vector<YamlNode> documents = parse_yaml("name: a\nlist: [1, 'two', ~]\n---\nname: b\n");
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[0].find("name")->text, "a");
  const YamlNode& list = *documents[0].find("list");
  ASSERT_EQ(list.items.size(), 3u);
  EXPECT_FALSE(list.items[0].is_quoted);
  EXPECT_TRUE(list.items[1].is_quoted);
  EXPECT_EQ(list.items[2].kind, YamlNode::Kind::null);
  EXPECT_EQ(list.line, 2u);
  EXPECT_EQ(documents[1].find("list"), nullptr);
}

TEST(Yaml, json_is_yaml) {
  const std::vector<YamlNode> documents = parse_yaml(R"({"a": [1, {"b": "c"}], "d": null})");
  EXPECT_EQ(documents.at(0).find("a")->items.at(1).find("b")->text, "c");
}

TEST(Yaml, aliases_are_copies) {
  const std::vector<YamlNode> documents = parse_yaml("a: &x [1, 2]\nb: *x\n");
  EXPECT_EQ(documents.at(0).find("b")->items.size(), 2u);
}

TEST(Yaml, refuses) {
  EXPECT_EQ(refusal("a: 1\na: 2\n"), "line 2: the key `a` occurs twice");
  EXPECT_EQ(refusal("[a]: 1\n"), "line 1: expected a name as key, found a list");
  EXPECT_EQ(refusal("a: [1\n"), "line 2: end of sequence flow not found");
  EXPECT_EQ(refusal(std::string(100000, '[')), "values are nested deeper than 64");
  std::string deep;
  for (size_t i = 0; i < 100; ++i) deep += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(refusal(deep), "values are nested deeper than 64");
  std::string bomb = "a0: &a0 [1, 1]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + "]\n";
  }
  EXPECT_EQ(refusal(bomb), "the text has more than 1000000 values");
}

TEST(Yaml, copies_count) {
  std::string long_texts = "a: &a " + std::string(100'000, 'x') + "\nb: [";
  for (int i = 0; i < 3'000; ++i) long_texts += "*a, ";
  EXPECT_EQ(refusal(long_texts + "]"), "the text has more than 1000000 values");
  std::string nested;
  for (int i = 0; i < 50; ++i) nested += "&a" + std::to_string(i) + " [";
  for (int i = 0; i < 30'000; ++i) nested += "1,";
  EXPECT_EQ(refusal(nested + std::string(50, ']')), "the text has more than 1000000 values");
  std::string lists;
  for (int i = 0; i < 12; ++i) {
    lists += "---\n- &a [1";
    for (int j = 0; j < 999; ++j) lists += ", 1";
    lists += "]\n";
    for (int j = 0; j < 100; ++j) lists += "- *a\n";
  }
  EXPECT_EQ(refusal(lists), "the text has more than 1000000 values");
}

TEST(Yaml, what_begins_no_document) {
  EXPECT_EQ(refusal(", a"), "line 1: expected a value");
  EXPECT_EQ(refusal("--- [a]\n, b"), "line 2: expected a value");
  EXPECT_EQ(parse_yaml("---\n---\n--- a\n...\n").size(), 3u);
}

TEST(Yaml, text_reads_back) {
  for (const std::string text : {"a", "no", "", "1", "a: b", "\"x\"", "tab\t", "#", "\xc3\xa4", "- a"}) {
    const std::vector<YamlNode> documents = parse_yaml("[" + yaml_text(text) + "]");
    ASSERT_EQ(documents.at(0).items.size(), 1u) << text;
    EXPECT_EQ(documents[0].items[0].text, text);
    EXPECT_EQ(documents[0].items[0].kind, YamlNode::Kind::scalar);
  }
  EXPECT_EQ(yaml_text("conv/out_1"), "conv/out_1");
}

}  // namespace
}  // namespace assay
