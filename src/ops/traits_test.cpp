#include "ops/traits.h"

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

// Dims must be told from elements only where the schema has such an operand.
TEST(TraitsTest, IndicesAndSizesAreOperandsOfTheSchema) {
  for (const schema::OperatorName& name : schema::operator_names()) {
    const Traits& found = traits(name.domain, name.name);
    const schema::Schema* const newest = schema::schema_versions(name.domain, name.name).back();
    for (uint32_t i = 0; i < 16; ++i) {
      if (!found.indices.contains(i) && !found.sizes.contains(i)) continue;
      EXPECT_NE(newest->input(i), nullptr) << name.name << " " << i;
    }
  }
}

}  // namespace
}  // namespace assay::ops
