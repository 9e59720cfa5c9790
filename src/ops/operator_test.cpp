#include "ops/operator.h"

#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "schema/schema.h"

namespace assay::ops {
namespace {

TEST(OperatorTest, EveryRowIsWholeAndHasASchema) {
  std::set<std::tuple<std::string_view, std::string_view, int64_t>> seen;
  for (const Registered<OperatorRows>& file : registered_operators()) {
    for (const Operator& row : file.make()) {
      const std::string name = std::string(file.path) + ": " + std::string(row.name);
      EXPECT_TRUE(seen.emplace(row.domain, row.name, row.since).second) << name << " is there twice";
      const bool is_left_out = std::string_view(file.path).starts_with("left_out/");
      EXPECT_EQ(row.eval != nullptr, !is_left_out) << name;
      EXPECT_TRUE(row.infer || is_left_out) << name;
      const bool is_of_tensorrt = row.name == "DistCollective";  // in ONNX's domain all the same
      EXPECT_EQ(schema::schema_versions(row.domain, row.name).empty(), is_of_tensorrt) << name;
    }
  }
}

// What the reference leaves out, and nothing else: ImageDecoder needs image libraries, Gradient differentiates a graph.
TEST(OperatorTest, EveryOperatorOfOnnxHasARow) {
  const std::set<std::string_view> left_out = {"ImageDecoder", "Gradient"};
  for (const schema::OperatorName& name : schema::operator_names()) {
    if (name.domain == "com.microsoft") continue;
    const bool is_there = find_operator(name.domain, name.name, INT32_MAX) != nullptr;
    EXPECT_EQ(is_there, !left_out.contains(name.name)) << name.domain << "::" << name.name;
  }
}

// A row must hold from the first version on that has a meaning: a version between has no row of its own.
TEST(OperatorTest, EveryVersionHasARow) {
  for (const schema::OperatorName& name : schema::operator_names()) {
    if (!find_operator(name.domain, name.name, INT32_MAX)) continue;
    for (const schema::Schema* schema : schema::schema_versions(name.domain, name.name)) {
      EXPECT_NE(find_operator(name.domain, name.name, schema->since), nullptr)
          << name.domain << "::" << name.name << " of version " << schema->since;
    }
  }
}

TEST(OperatorTest, TheNewestRowThatIsOldEnoughHolds) {
  const Operator* old_add = find_operator("", "Add", 6);
  const Operator* new_add = find_operator("ai.onnx", "Add", 13);
  ASSERT_TRUE(old_add && new_add);
  EXPECT_LE(old_add->since, 6);
  EXPECT_EQ(new_add->since, 7);
  EXPECT_EQ(find_operator("", "NoSuchOperator", 13), nullptr);
}

}  // namespace
}  // namespace assay::ops
