#include "formats/shard_hints.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::formats {
namespace {

std::string refusal(std::string_view text) {
  try {
    parse_shard_hints(text);
    return "no error";
  } catch (const Error& error) {
    return error.line();
  }
}

TEST(ShardHints, reads_the_form_of_0_49) {
  const ShardHints hints = parse_shard_hints(
      R"({"parallelism": "CP", "group_size": 2, "root": 0, "groups": [0, 1], "attention_layers":
      [{"q": "q", "gather_kv": true, "gather_q": false, "polygraphy_class": "AttentionLayerHint"}],
      "inputs": [{"name": "x", "seq_len_idx": 1, "rank": null, "polygraphy_class": "ShardTensor"}], "outputs": [],
      "k_seq_len_idx": 2, "v_seq_len_idx": 1, "kv_rank": 4, "reduce_scatter_reduce_op": "sum",
      "polygraphy_class": "ShardHints"})");
  EXPECT_EQ(hints.group_size, 2);
  EXPECT_EQ(hints.reduce_op, "sum");
  EXPECT_EQ(hints.groups, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(hints.attention_layers.at(0).q, "q");
  EXPECT_EQ(hints.inputs.at(0).seq_len_idx, 1);
  EXPECT_FALSE(hints.inputs.at(0).rank);
  EXPECT_EQ(hints.kv_rank, 4);
}

TEST(ShardHints, reads_the_form_of_0_53) {
  const ShardHints hints = parse_shard_hints(
      R"({"attention_layers": [{"q": "q", "replace": {"is_causal": true, "q_shuffle": [0, 2, 1], "k_shuffle": null}}],
      "dist_collectives": {"group_size": 4, "root": -1, "nb_rank": 2, "reduce_op": "avg", "groups": []},
      "polygraphy_class": "ShardHints"})");
  EXPECT_EQ(hints.group_size, 4);
  EXPECT_EQ(hints.nb_rank, 2);
  EXPECT_EQ(hints.reduce_op, "avg");
  ASSERT_TRUE(hints.attention_layers.at(0).replace);
  EXPECT_TRUE(hints.attention_layers[0].replace->is_causal);
  EXPECT_EQ(hints.attention_layers[0].replace->q_shuffle, (std::vector<int64_t>{0, 2, 1}));
}

TEST(ShardHints, refuses) {
  EXPECT_NE(refusal("{}").find("holds no shard hints"), std::string::npos);
  EXPECT_NE(refusal(R"({"polygraphy_class": "RunResults"})").find("expected `ShardHints`"), std::string::npos);
  EXPECT_NE(refusal(R"({"inputs": [{}]})").find("without `name`"), std::string::npos);
}

}  // namespace
}  // namespace assay::formats
