#include "engine/lowering/collectives_of_halves.h"

#include <gtest/gtest.h>

#include "engine/lowering/lower.h"
#include "support/parsed_model.h"

namespace assay::engine {
namespace {

constexpr const char* kBlock =
    "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,4] x) => (float[2,4] y) <float[4,4] w = "
    "{1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8}> { p = MatMul(x, w) [s] q = DistCollective <collective_operation = "
    "\"all_reduce\", reduce_op = \"sum\", nb_rank = 2> (p) y = Relu(q) }";

// The type of what ranks exchange.
tensor::DType exchanged(const std::string& text, const std::vector<tensor::DType>& computes) {
  ir::Model model = testing_support::parsed(text);
  ir::Rewriter rewriter(model);
  Precision precision{.float16 = true};
  precision.rules.computes = computes;
  lower(model, rewriter, precision);
  ops::Inference inference(model);
  inference.run();
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    if (model.text(model[node].op) == "DistCollective") return inference.type(model[node].operands[0].value).dtype;
  }
  return tensor::DType::undefined;
}

TEST(CollectivesOfHalves, RanksExchangeWhatWasMadeInSixteenBits) {
  using tensor::DType;
  EXPECT_EQ(exchanged(kBlock, {DType::float32, DType::float16}), DType::float16);
  EXPECT_EQ(exchanged(kBlock, {DType::float32}), DType::float32);
}

TEST(CollectivesOfHalves, CastsOfTheModelStay) {
  using tensor::DType;
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float16[2,4] x) => (float[2,4] y) { c = Cast <to = 1> (x) y = "
      "DistCollective <collective_operation = \"all_reduce\", reduce_op = \"sum\", nb_rank = 2> (c) }";
  EXPECT_EQ(exchanged(text, {DType::float32, DType::float16}), DType::float32);
}

// True if a layer of its own computes the collective.
bool is_alone(std::string text, std::string_view reduction, int64_t most_bytes) {
  const size_t sum = text.find("\"sum\"");
  ir::Model model = testing_support::parsed(text.replace(sum + 1, 3, reduction));
  ir::Rewriter rewriter(model);
  Precision precision;
  precision.rules.most_sum_bytes = most_bytes;
  lower(model, rewriter, precision);
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    if (model.text(model[node].op) == "DistCollective") return true;
  }
  return false;
}

TEST(CollectivesOfHalves, ShortSumsGoOnElementByElement) {
  EXPECT_FALSE(is_alone(kBlock, "sum", 32));  // eight floats
  EXPECT_TRUE(is_alone(kBlock, "sum", 31));
  EXPECT_TRUE(is_alone(kBlock, "max", 32));
}

}  // namespace
}  // namespace assay::engine
