#include "tensor/array_text.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "tensor/casts.h"

namespace assay::tensor {
namespace {

Tensor tensor_of(DType dtype, Shape shape, const std::vector<double>& values) {
  std::vector<std::byte> bytes(*packed_bytes(dtype, values.size()));
  store(dtype, std::span<const double>(values), 0, bytes);
  return Tensor(dtype, std::move(shape), make_owned(std::move(bytes)));
}

std::string floats(const std::vector<double>& values) {
  return array_text(tensor_of(DType::float32, {static_cast<int64_t>(values.size())}, values));
}

TEST(ArrayText, aligns_decimal_points) {
  EXPECT_EQ(floats({1, 2.5, -3.25}), "[ 1.    2.5  -3.25]");
  EXPECT_EQ(floats({0.1, 0.2}), "[0.1 0.2]");
  EXPECT_EQ(floats({1, 0.0 / 0.0, -1e300}), "[  1.  nan -inf]");
}

TEST(ArrayText, changes_to_scientific_notation) {
  EXPECT_EQ(floats({1, 0.0001}), "[1.e+00 1.e-04]");
  EXPECT_EQ(floats({1e6, 1}), "[1.e+06 1.e+00]");
  EXPECT_EQ(floats({999999, 1000}), "[999999.   1000.]");
  EXPECT_EQ(floats({0.1, 12345.678}), "[1.0000000e-01 1.2345678e+04]");
}

TEST(ArrayText, prints_scalars_alone) {
  EXPECT_EQ(array_text(tensor_of(DType::float32, {}, {0.1})), "0.1");
  EXPECT_EQ(array_text(tensor_of(DType::float64, {}, {3})), "3.0");
  EXPECT_EQ(array_text(tensor_of(DType::int8, {}, {-3})), "-3");
  EXPECT_EQ(array_text(tensor_of(DType::boolean, {}, {1})), "True");
  EXPECT_EQ(array_text(Tensor(DType::string, {}, make_strings({"it's"}))), "it's");
}

TEST(ArrayText, nests_brackets) {
  EXPECT_EQ(array_text(tensor_of(DType::int32, {2, 1, 2}, {1, 20, 3, 4})), "[[[ 1 20]]\n\n [[ 3  4]]]");
  EXPECT_EQ(array_text(tensor_of(DType::boolean, {2, 1}, {1, 0})), "[[ True]\n [False]]");
  EXPECT_EQ(array_text(Tensor(DType::string, {2}, make_strings({"a", "it's"}))), "['a' \"it's\"]");
  EXPECT_EQ(array_text(tensor_of(DType::float32, {3, 0}, {})), "[]");
}

TEST(ArrayText, wraps_lines) {
  const std::string text = array_text(tensor_of(DType::int64, {40}, std::vector<double>(40, 7)));
  EXPECT_EQ(text.find('\n'), 74U);
  EXPECT_EQ(text.substr(74, 4), "\n 7 ");
}

TEST(ArrayText, shows_the_edges_of_large_arrays) {
  std::vector<double> values(49);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  EXPECT_EQ(array_text(tensor_of(DType::uint8, {7, 7}, values), {.threshold = 48}),
            "[[ 0  1  2 ...  4  5  6]\n [ 7  8  9 ... 11 12 13]\n [14 15 16 ... 18 19 20]\n ...\n"
            " [28 29 30 ... 32 33 34]\n [35 36 37 ... 39 40 41]\n [42 43 44 ... 46 47 48]]");
  EXPECT_EQ(array_text(tensor_of(DType::uint8, {7, 7}, values), {.threshold = 49}).find("..."), std::string::npos);
}

TEST(ArrayText, reads_only_the_pattern_of_a_fill) {
  const std::vector<float> one = {1.5F};
  const Bytes pattern = std::as_bytes(std::span(one));
  const StoragePtr huge = make_fill({pattern.begin(), pattern.end()}, uint64_t{1} << 60);
  EXPECT_EQ(array_text(Tensor(DType::float32, {int64_t{1} << 60}, huge)), "[1.5 1.5 1.5 ... 1.5 1.5 1.5]");
  const StoragePtr nibbles = make_fill({std::byte{0x21}}, uint64_t{1} << 60);
  EXPECT_EQ(array_text(Tensor(DType::int4, {int64_t{1} << 61}, nibbles)), "[1 2 1 ... 2 1 2]");
}

int64_t page_faults() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

TEST(ArrayText, reads_only_the_edges_of_a_mapped_file) {
  constexpr uint64_t kSize = uint64_t{1} << 32;
  std::string path = testing::TempDir() + "assay_array_text_XXXXXX";
  close(mkstemp(path.data()));
  std::filesystem::resize_file(path, kSize);
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  std::filesystem::remove(path);
  const Tensor tensor(DType::uint8, {64, 1 << 26}, make_mapped(file, 0, kSize));
  const int64_t before = page_faults();
  EXPECT_EQ(array_text(tensor).substr(0, 18), "[[0 0 0 ... 0 0 0]");
  EXPECT_LT(page_faults() - before, 200);
}

TEST(ArrayText, refuses_what_it_cannot_print) {
  EXPECT_THROW(array_text(Tensor(static_cast<DType>(77), {1}, make_owned(std::vector<std::byte>(4)))), Error);
  EXPECT_THROW(array_text(tensor_of(DType::uint8, Shape(65, 1), {1})), Error);
  EXPECT_EQ(array_text(tensor_of(DType::uint8, Shape(64, 1), {1})).size(), 64U + 1 + 64);
}

}  // namespace
}  // namespace assay::tensor
