#include "exec/feeds.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/parsed_model.h"

namespace assay::exec {
namespace {

tensor::Datum zeros(tensor::DType dtype, tensor::Shape shape) {
  const uint64_t bytes = *tensor::packed_bytes(dtype, *tensor::element_count(shape));
  return tensor::Tensor(dtype, std::move(shape), tensor::make_owned(std::vector<std::byte>(bytes)));
}

constexpr const char* kModel =
    "g (float[batch, 3] x, int64[2] n) => (float[batch, 3] y) <float[1] w = {1.0}> { t = Mul(x, w) y = Identity(t) }";

std::string error_of(const tensor::NamedData& given) {
  const ir::Model model = testing_support::parsed(kModel);
  Diagnostics findings;
  try {
    check_feeds(signature_of(model), given, findings);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.message();
  }
}

TEST(CheckFeeds, puts_them_into_the_models_order_and_says_what_is_not_used) {
  const ir::Model model = testing_support::parsed(kModel);
  Diagnostics findings;
  const std::vector<Feed> feeds = check_feeds(signature_of(model),
                                              {{"extra", zeros(tensor::DType::float32, {1})},
                                               {"n", zeros(tensor::DType::int64, {2})},
                                               {"x", zeros(tensor::DType::float32, {7, 3})}},
                                              findings);
  ASSERT_EQ(feeds.size(), 2U);
  EXPECT_EQ(feeds[0].name, "x");
  EXPECT_EQ(feeds[1].name, "n");
  ASSERT_EQ(findings.all().size(), 1U);
  EXPECT_EQ(findings.all()[0].message, "`extra` is given, but it is no input of the model");
}

TEST(CheckFeeds, names_what_does_not_fit) {
  const tensor::NamedDatum n{"n", zeros(tensor::DType::int64, {2})};
  EXPECT_EQ(error_of({n}), "input `x` of the model is not given; given: `n`");
  EXPECT_EQ(error_of({n, {"x", zeros(tensor::DType::float64, {1, 3})}}),
            "input `x`: the model declares float32, given is float64");
  EXPECT_EQ(error_of({n, {"x", zeros(tensor::DType::float32, {1, 4})}}),
            "input `x`: the model declares the shape [batch,3], given is [1,4]");
  EXPECT_EQ(error_of({n, {"x", zeros(tensor::DType::float32, {3})}}),
            "input `x`: the model declares the shape [batch,3], given is [3]");
  EXPECT_EQ(error_of({n, {"x", tensor::Datum::sequence({})}}), "input `x`: the model declares another kind of value");
}

TEST(SignatureOf, tells_defaults_types_and_shape_inputs) {
  const Signature signature = signature_of(testing_support::parsed(
      "g (float[batch, 3] x, int64[2] shape, int64[1] index, int64[batch] ids, float[1] w) => (float[a, b] y) "
      "<float[1] w = {1}, float[5, 2] table = {1,2,3,4,5,6,7,8,9,0}> "
      "{ k = Gather(shape, index) n = Neg(k) s = Neg(n) z = Reshape(x, s) e = Gather(table, ids) y = Mul(z, w) }"));
  std::vector<std::string> shapes;
  std::vector<std::string> defaults;
  for (const Port& input : signature.inputs) {
    if (input.is_shape) shapes.push_back(input.name);
    if (input.has_default) defaults.push_back(input.name);
  }
  EXPECT_EQ(shapes, (std::vector<std::string>{"shape", "index"}));
  EXPECT_EQ(defaults, std::vector<std::string>{"w"});
  ASSERT_EQ(signature.outputs.size(), 1U);
  const Port* x = find_port(signature.inputs, "x");
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->type->dims[0].text, "batch");
  EXPECT_FALSE(x->type->dims[0].size);
  EXPECT_EQ(x->type->dims[1].size, 3);
  EXPECT_EQ(find_port(signature.inputs, "y"), nullptr);
}

// By traits: what is compared, padded and picked is a size as well.
TEST(SignatureOf, FollowsSizesThroughEveryArithmetic) {
  const Signature signature = signature_of(testing_support::parsed(
      "g (float[batch, 3] x, int64[1] size, int64[1] other) => (y) <int64[1] k = {1}, int64[2] pads = {0, 1}> "
      "{ b = LessOrEqual(size, other) s = Cast<to = 7>(b) p = Pad(s, pads) t = Tile(p, k) y = Expand(x, t) }"));
  ASSERT_EQ(signature.inputs.size(), 3U);
  EXPECT_FALSE(signature.inputs[0].is_shape);
  EXPECT_TRUE(signature.inputs[1].is_shape);
  EXPECT_TRUE(signature.inputs[2].is_shape);
}

}  // namespace
}  // namespace assay::exec
