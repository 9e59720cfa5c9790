#include "inspect/data/data_listing.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.h"
#include "inspect/data/percentiles.h"

namespace assay::inspect {
namespace {

using tensor::DType;
using tensor::Tensor;

Tensor iota(tensor::Shape shape) {
  std::vector<int32_t> elements(*tensor::element_count(shape));
  std::iota(elements.begin(), elements.end(), 0);
  return tensor::make_tensor<int32_t>(DType::int32, std::move(shape), elements);
}

std::vector<int32_t> taken(const Tensor& tensor, std::string_view text) {
  const Tensor part = take_slice(tensor, parse_slice(text));
  std::vector<int32_t> elements(part.count());
  if (!elements.empty()) std::memcpy(elements.data(), part.bytes().data(), elements.size() * 4);
  return elements;
}

using Ints = std::vector<int32_t>;

TEST(Slice, as_python_takes_it) {
  const Tensor x = iota({2, 3, 4});
  EXPECT_EQ(taken(x, "1,2,3"), Ints{23});
  EXPECT_EQ(taken(x, "-1,-1,-1"), Ints{23});
  EXPECT_EQ(taken(x, "0,:,1:3"), (Ints{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(taken(x, "1,0"), (Ints{12, 13, 14, 15}));
  EXPECT_EQ(taken(x, ":,0,::3"), (Ints{0, 3, 12, 15}));
  EXPECT_EQ(taken(x, "0,0,-2:"), (Ints{2, 3}));
  EXPECT_EQ(taken(x, "0,0,1:100"), (Ints{1, 2, 3}));
  EXPECT_EQ(taken(x, "0,0,3:1"), Ints{});
  EXPECT_EQ(take_slice(x, parse_slice("0,:,1:3")).shape(), (tensor::Shape{3, 2}));
  EXPECT_EQ(take_slice(x, parse_slice("::9223372036854775807")).shape(), (tensor::Shape{1, 3, 4}));
}

TEST(Slice, what_is_wrong) {
  for (const char* text : {"", "a", "1:2:3:4", "::0", "::-1", "1,,2", "1.5"}) {
    EXPECT_THROW(parse_slice(text), Error) << text;
  }
  EXPECT_THROW(taken(iota({2}), "2"), Error);
  EXPECT_THROW(taken(iota({2}), "-3"), Error);
  EXPECT_THROW(taken(iota({2}), "0,0"), Error);
  const Tensor nibbles(DType::int4, {2}, tensor::make_owned(std::vector<std::byte>(1)));
  EXPECT_THROW(take_slice(nibbles, parse_slice("0")), Error);
}

TEST(Percentiles, as_numpy_interpolates) {
  const Tensor x = tensor::make_tensor<double>(DType::float64, {4}, std::vector<double>{40, 10, 30, 20});
  const std::vector<std::pair<double, double>> found = percentiles(x, {0, 50, 90, 100});
  EXPECT_EQ(found, (std::vector<std::pair<double, double>>{{0, 10}, {50, 25}, {90, 37}, {100, 40}}));
  const Tensor nan = tensor::make_tensor<double>(DType::float64, {2}, std::vector<double>{NAN, 1});
  EXPECT_TRUE(std::isnan(percentiles(nan, {50})[0].second));
  const Tensor none = tensor::make_tensor<double>(DType::float64, {0}, std::vector<double>{});
  EXPECT_TRUE(std::isnan(percentiles(none, {50})[0].second));
}

TEST(DataListing, patterns_must_fit_something) {
  const formats::SavedData data = formats::SavedInputs{{{"x", iota({2})}, {"y", iota({2})}}};
  DataOptions options;
  options.tensors = {"x*"};
  EXPECT_EQ(list_data(data, options).runs[0].iterations[0].arrays.size(), 1u);
  options.tensors = {"z"};
  EXPECT_THROW(list_data(data, options), Error);
  DataOptions runner;
  runner.runners = {"r"};
  EXPECT_THROW(list_data(data, runner), Error);
}

}  // namespace
}  // namespace assay::inspect
