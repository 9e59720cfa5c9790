#include "passes/opset/adapters.h"

#include <set>

#include <gtest/gtest.h>

#include "passes/opset/form.h"

namespace assay::passes {
namespace {

constexpr int64_t kOldest = 7;

std::string describe(std::string_view op, int64_t since) { return std::string(op) + " " + std::to_string(since); }

// Pairs of neighbouring versions of all operators of ai.onnx, from version 7 on, by the newer one.
template <typename Fn>
void for_each_pair(Fn&& fn) {
  for (const schema::OperatorName& name : schema::operator_names()) {
    if (!name.domain.empty()) continue;
    const std::vector<const schema::Schema*> versions = schema::schema_versions("", name.name);
    for (size_t i = 1; i < versions.size(); ++i) {
      if (versions[i]->since > kOldest) fn(*versions[i - 1], *versions[i]);
    }
  }
}

TEST(Adapters, there_is_one_for_every_change) {
  size_t count = 0;
  for_each_pair([&](const schema::Schema& older, const schema::Schema& newer) {
    ++count;
    EXPECT_TRUE(only_widens_types(older, newer) || find_adapter(newer.name, newer.since))
        << describe(newer.name, newer.since) << " differs from the version before in more than types";
  });
  EXPECT_GT(count, 300u);
}

TEST(Adapters, each_is_for_a_version_that_exists) {
  std::set<std::string> pairs;
  for_each_pair(
      [&](const schema::Schema&, const schema::Schema& newer) { pairs.insert(describe(newer.name, newer.since)); });
  std::set<std::string> seen;
  for (const std::span<const Adapter> group : adapter_groups()) {
    for (const Adapter& row : group) {
      EXPECT_TRUE(pairs.contains(describe(row.op, row.since))) << describe(row.op, row.since);
      EXPECT_TRUE(seen.insert(describe(row.op, row.since)).second) << describe(row.op, row.since) << " is there twice";
      EXPECT_TRUE(row.up || row.down || !row.note.empty()) << describe(row.op, row.since) << " says nothing";
    }
  }
}

// An upward row without function promises that each node of the older form has the newer one.
TEST(Adapters, what_goes_up_as_it_is_has_the_newer_form) {
  for_each_pair([&](const schema::Schema& older, const schema::Schema& newer) {
    const Adapter* row = find_adapter(newer.name, newer.since);
    if (!row || row->up) return;
    for (const schema::AttributeSchema& attribute : older.attributes) {
      const schema::AttributeSchema* same = newer.find_attribute(attribute.name);
      ASSERT_NE(same, nullptr) << describe(newer.name, newer.since) << " " << attribute.name;
      EXPECT_EQ(same->type, attribute.type) << describe(newer.name, newer.since);
      EXPECT_EQ(same->value, attribute.value) << describe(newer.name, newer.since);
    }
    for (const schema::AttributeSchema& attribute : newer.attributes) {
      EXPECT_TRUE(!attribute.required || older.find_attribute(attribute.name)) << describe(newer.name, newer.since);
    }
    EXPECT_LE(newer.min_inputs, older.min_inputs) << describe(newer.name, newer.since);
    EXPECT_GE(newer.max_inputs, older.max_inputs) << describe(newer.name, newer.since);
    EXPECT_LE(newer.min_outputs, older.min_outputs) << describe(newer.name, newer.since);
    EXPECT_GE(newer.max_outputs, older.max_outputs) << describe(newer.name, newer.since);
  });
}

// Nodes that rows add are not adapted themselves: they must mean the same in all versions.
TEST(Adapters, what_they_add_is_the_same_in_all_versions) {
  for (const std::string_view op :
       {"Cast", "Expand", "Flatten", "Identity", "Less", "Or", "Shape", "Transpose", "Where"}) {
    for_each_pair([&](const schema::Schema& older, const schema::Schema& newer) {
      if (newer.name != op) return;
      EXPECT_LE(older.inputs.size(), newer.inputs.size());
      const Adapter* row = find_adapter(newer.name, newer.since);
      EXPECT_TRUE(!row || !row->up) << describe(newer.name, newer.since);
    });
  }
}

}  // namespace
}  // namespace assay::passes
