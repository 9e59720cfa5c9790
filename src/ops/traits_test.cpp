#include "ops/traits.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "ops/operator.h"
#include "schema/schema.h"

namespace assay::ops {
namespace {

TEST(TraitsTest, EveryOperatorOfTheSchemasHasARow) {
  std::set<std::pair<std::string_view, std::string_view>> described;
  for (const Registered<OperatorRows>& file : registered_operators()) {
    for (const Operator& row : file.make()) described.emplace(row.domain, row.name);
  }
  for (const schema::OperatorName& name : schema::operator_names()) {
    EXPECT_TRUE(described.contains({schema::canonical_domain(name.domain), name.name}))
        << name.domain << "::" << name.name;
    EXPECT_NE(traits(name.domain, name.name).nature, Nature::unknown) << name.domain << "::" << name.name;
  }
}

bool are_equal(const OperandSet& a, const OperandSet& b) {
  for (uint32_t i = 0; i < 16; ++i) {
    if (a.contains(i) != b.contains(i)) return false;
  }
  return true;
}

TEST(TraitsTest, AllRowsOfAnOperatorSayTheSame) {
  for (const Registered<OperatorRows>& file : registered_operators()) {
    for (const Operator& row : file.make()) {
      const Traits& first = traits(row.domain, row.name);
      EXPECT_EQ(first.nature, row.traits.nature) << row.name;
      EXPECT_EQ(first.rounding, row.traits.rounding) << row.name;
      EXPECT_EQ(first.range, row.traits.range) << row.name;
      EXPECT_EQ(first.moves, row.traits.moves) << row.name;
      EXPECT_EQ(first.is_commutative, row.traits.is_commutative) << row.name;
      EXPECT_EQ(first.counts_elements, row.traits.counts_elements) << row.name;
      EXPECT_TRUE(are_equal(first.indices, row.traits.indices)) << row.name;
      EXPECT_TRUE(are_equal(first.sizes, row.traits.sizes)) << row.name;
      EXPECT_TRUE(are_equal(first.places, row.traits.places)) << row.name;
      EXPECT_TRUE(are_equal(first.shapes, row.traits.shapes)) << row.name;
      EXPECT_TRUE(are_equal(first.decisions, row.traits.decisions)) << row.name;
      EXPECT_TRUE(are_equal(first.divisors, row.traits.divisors)) << row.name;
      EXPECT_TRUE(are_equal(first.codes, row.traits.codes)) << row.name;
      EXPECT_TRUE(are_equal(first.scales, row.traits.scales)) << row.name;
      EXPECT_TRUE(are_equal(first.variances, row.traits.variances)) << row.name;
      EXPECT_EQ(first.product, row.traits.product) << row.name;
      EXPECT_EQ(first.has_bias, row.traits.has_bias) << row.name;
      EXPECT_EQ(first.coding, row.traits.coding) << row.name;
      EXPECT_EQ(first.domain, row.traits.domain) << row.name;
      EXPECT_EQ(first.bodies, row.traits.bodies) << row.name;
      EXPECT_EQ(first.is_periodic, row.traits.is_periodic) << row.name;
      EXPECT_EQ(first.is_identity, row.traits.is_identity) << row.name;
      EXPECT_EQ(first.clamps_sizes, row.traits.clamps_sizes) << row.name;
      EXPECT_EQ(first.typed_by, row.traits.typed_by) << row.name;
    }
  }
}

TEST(TraitsTest, AreFoundByDomainAndName) {
  EXPECT_EQ(traits("", "Reshape").nature, Nature::movement);
  EXPECT_EQ(traits("ai.onnx", "Reshape").nature, Nature::movement);
  EXPECT_EQ(traits("com.example", "Reshape").nature, Nature::unknown);
  EXPECT_TRUE(traits("", "Reshape").sizes.contains(1));
  EXPECT_FALSE(traits("", "Reshape").sizes.contains(0));
}

TEST(TraitsTest, NamesThatShareAFactAreListed) {
  const auto is_reordered = [](const Traits& traits) { return traits.moves == Moves::in_order; };
  EXPECT_EQ(operators_that(is_reordered),
            (std::vector<std::string_view>{"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"}));
}

TEST(TraitsTest, OperandsAndAttributesAreThoseOfTheSchema) {
  static constexpr std::array kSets = {&Traits::indices, &Traits::sizes,     &Traits::places,
                                       &Traits::shapes,  &Traits::decisions, &Traits::divisors,
                                       &Traits::codes,   &Traits::scales,    &Traits::variances};
  for (const schema::OperatorName& name : schema::operator_names()) {
    const Traits& found = traits(name.domain, name.name);
    const schema::Schema* const newest = schema::schema_versions(name.domain, name.name).back();
    for (uint32_t i = 0; i < 16; ++i) {
      const bool is_named = std::ranges::any_of(kSets, [&](auto set) { return (found.*set).contains(i); });
      EXPECT_TRUE(!is_named || newest->input(i) != nullptr) << name.name << " " << i;
    }
    const bool is_typed = !found.typed_by.empty();
    EXPECT_TRUE(!is_typed || newest->find_attribute(found.typed_by) != nullptr) << name.name;
  }
}

}  // namespace
}  // namespace assay::ops
