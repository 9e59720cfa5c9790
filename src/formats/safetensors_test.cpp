#include "formats/safetensors.h"

#include <gtest/gtest.h>

#include "support/data_files.h"

namespace assay::formats {
namespace {

using namespace testing_support;
using tensor::DType;
using tensor::NamedData;

std::string with_header(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

std::string one(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return fmt::format(R"({{"x":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", dtype, shape, offsets);
}

TEST(Safetensors, what_is_written_comes_back_and_is_aligned) {
  const DataFolder folder;
  const NamedData tensors = {{"b", tensor_of<uint8_t>(DType::boolean, {3}, {1, 0, 1})},
                             {"d\"", tensor_of<double>(DType::float64, {1}, {2})},
                             {"h", tensor_of<uint16_t>(DType::bfloat16, {}, {7})},
                             {"f", tensor_of<uint8_t>(DType::float4e2m1, {2, 2}, {0x21, 0x43})}};
  write_safetensors(folder / "a.safetensors", tensors);
  const std::string bytes = folder.read("a.safetensors");
  NamedData loaded = read_safetensors(file_of(bytes));
  EXPECT_EQ(loaded[0].name, "d\"");
  std::ranges::sort(loaded, {}, &tensor::NamedDatum::name);
  std::vector<tensor::NamedDatum> sorted = tensors;
  std::ranges::sort(sorted, {}, &tensor::NamedDatum::name);
  EXPECT_TRUE(is_same(loaded, sorted));
  EXPECT_EQ(static_cast<uint8_t>(bytes[0]) % 8, 0);
}

TEST(Safetensors, no_tensors) {
  const DataFolder folder;
  write_safetensors(folder / "a.safetensors", {});
  EXPECT_TRUE(read_safetensors(MappedFile::open(folder / "a.safetensors")).empty());
}

TEST(Safetensors, metadata_is_skipped) {
  const std::string header = R"({"__metadata__":{"format":"pt"},"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  EXPECT_EQ(read_safetensors(file_of(with_header(header, "a"))).size(), 1u);
}

TEST(Safetensors, headers_that_do_not_fit_the_file) {
  EXPECT_EQ(error_of(with_header(one("U8", "[2]", "[0,2]"), "ab")), "");
  EXPECT_NE(error_of(with_header(one("U8", "[2]", "[0,2]"), "a")).find("expected from 0 on"), std::string::npos);
  EXPECT_NE(error_of(with_header(one("U8", "[2]", "[0,2]"), "abc")).find("3 bytes of data"), std::string::npos);
  EXPECT_NE(error_of(with_header(one("U8", "[2]", "[1,3]"), "abc")), "");
  EXPECT_NE(error_of(with_header(one("U8", "[2]", "[2,0]"), "ab")), "");
  EXPECT_NE(error_of(with_header(one("U16", "[2]", "[0,2]"), "ab")).find("do not fit U16[2]"), std::string::npos);
  EXPECT_NE(error_of(with_header(one("U8", "[4611686018427387904,8]", "[0,2]"), "ab")), "");
  EXPECT_NE(error_of(with_header(one("X8", "[2]", "[0,2]"), "ab")).find("unknown type `X8`"), std::string::npos);
  EXPECT_NE(error_of(with_header(one("U8", "[-2]", "[0,2]"), "ab")), "");
  EXPECT_NE(error_of(with_header(one("U8", "[2]", "[0]"), "ab")), "");
  EXPECT_NE(error_of(with_header("{} x", "")), "");
  std::string long_header = with_header("{}", "");
  long_header[0] = 100;
  EXPECT_NE(error_of(long_header).find("header of 100 bytes"), std::string::npos);
}

TEST(Safetensors, tensors_must_not_share_bytes) {
  const std::string header =
      R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
  EXPECT_NE(error_of(with_header(header, "ab")).find("tensor `y`"), std::string::npos);
  const std::string twice =
      R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
  EXPECT_NE(error_of(with_header(twice, "ab")).find("occurs twice"), std::string::npos);
}

TEST(Safetensors, types_it_cannot_hold) {
  const DataFolder folder;
  EXPECT_THROW(write_safetensors(folder / "a", {{"s", strings_of({1}, {"a"})}}), Error);
  EXPECT_THROW(write_safetensors(folder / "a", {{"i", tensor_of<uint8_t>(DType::int4, {2}, {1})}}), Error);
  EXPECT_THROW(write_safetensors(folder / "a", {{"__metadata__", tensor_of<uint8_t>(DType::uint8, {1}, {1})}}), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
}

}  // namespace
}  // namespace assay::formats
