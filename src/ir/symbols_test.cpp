#include "ir/symbols.h"

#include <string>

#include <gtest/gtest.h>

namespace assay::ir {
namespace {

TEST(Symbols, the_empty_string_is_kEmpty) {
  SymbolTable table;
  EXPECT_EQ(table.intern(""), kEmpty);
  EXPECT_EQ(table.find(""), kEmpty);
  EXPECT_EQ(table.text(kEmpty), "");
}

TEST(Symbols, a_hundred_thousand_strings_keep_their_symbols) {
  SymbolTable table;
  for (uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(table.intern("name" + std::to_string(i)), Symbol{i + 1});
  EXPECT_EQ(table.size(), 100'001u);
  for (uint32_t i = 0; i < 100'000; ++i) {
    const std::string text = "name" + std::to_string(i);
    ASSERT_EQ(table.intern(text), Symbol{i + 1});
    ASSERT_EQ(table.find(text), Symbol{i + 1});
    ASSERT_EQ(table.text(Symbol{i + 1}), text);
  }
  EXPECT_FALSE(table.find("other").valid());
}

TEST(Symbols, text_outlives_its_source) {
  SymbolTable table;
  std::string source = "a text that is too long for the small buffer of a string";
  const Symbol copied = table.intern(source);
  source.assign(source.size(), '?');
  EXPECT_EQ(table.text(copied)[0], 'a');
}

TEST(Symbols, bytes_that_are_not_text) {
  SymbolTable table;
  const std::string zero("a\0b", 3);
  EXPECT_NE(table.intern(zero), table.intern("a"));
  EXPECT_EQ(table.text(table.find(zero)).size(), 3u);
}

// Views that were given out hold whatever is interned behind them.
TEST(Symbols, texts_of_any_length_stay_where_they_are) {
  SymbolTable table;
  std::vector<std::string> texts;
  for (size_t length = 1; length < 3'000'000; length += length / 3 + 1) {
    for (int i = 0; i < 20 && length < 100'000; ++i) texts.push_back(std::to_string(i) + std::string(length, 'a'));
    texts.push_back(std::string(length, 'b'));
  }
  std::vector<std::string_view> views;
  for (const std::string& text : texts) views.push_back(table.text(table.intern(text)));
  const SymbolTable copy = table;
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_TRUE(views[i] == texts[i]) << i;
    EXPECT_EQ(copy.find(texts[i]), table.find(texts[i])) << i;
  }
}

}  // namespace
}  // namespace assay::ir
