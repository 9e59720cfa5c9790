#include "debug/check_rules.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::debug {
namespace {

bool fails(const CheckRules& rules, int status, std::string out = "", std::string err = "") {
  return rules.is_failure({.status = status, .out = std::move(out), .err = std::move(err)});
}

TEST(CheckRules, AnyCodeButZeroFails) {
  const CheckRules rules({}, {}, {});
  EXPECT_FALSE(fails(rules, 0));
  EXPECT_TRUE(fails(rules, 3));
  EXPECT_TRUE(fails(rules, -9));
}

TEST(CheckRules, NamedCodesAloneFail) {
  const CheckRules rules({2, -9}, {}, {});
  EXPECT_FALSE(fails(rules, 1));
  EXPECT_TRUE(fails(rules, 2));
  EXPECT_TRUE(fails(rules, -9));
}

TEST(CheckRules, PatternsDecideWhateverTheCode) {
  const CheckRules rules({}, {}, {"BAD N.DE", "^no"});
  EXPECT_FALSE(fails(rules, 3, "fine"));
  EXPECT_TRUE(fails(rules, 0, "", "a BAD NODE!"));
  EXPECT_TRUE(fails(rules, 0, "yes\nno"));
  EXPECT_FALSE(fails(rules, 0, "oh no"));
}

TEST(CheckRules, WithCodesAndPatternsBothMustSpeak) {
  const CheckRules rules({1}, {}, {"BAD"});
  EXPECT_FALSE(fails(rules, 0, "BAD"));
  EXPECT_FALSE(fails(rules, 1, "good"));
  EXPECT_TRUE(fails(rules, 1, "BAD"));
}

TEST(CheckRules, IgnoredCodesNeverFail) {
  const CheckRules rules({}, {4}, {"BAD"});
  EXPECT_FALSE(fails(rules, 4, "BAD"));
  EXPECT_TRUE(fails(rules, 5, "BAD"));
}

TEST(CheckRules, VeryLongLinesAreSearchedWhole) {
  const CheckRules rules({}, {}, {"xEND.*"});
  std::string text(3'000'000, 'x');
  EXPECT_FALSE(fails(rules, 0, text));
  text.append("END of it");
  EXPECT_TRUE(fails(rules, 0, text));
}

TEST(CheckRules, WhatIsNoPatternIsRefused) { EXPECT_THROW(CheckRules({}, {}, {"("}), Error); }

}  // namespace
}  // namespace assay::debug
