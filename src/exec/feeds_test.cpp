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

}  // namespace
}  // namespace assay::exec
