#include "formats/numpy/npy.h"

#include <gtest/gtest.h>

#include "support/data_files.h"

namespace assay::formats {
namespace {

using namespace testing_support;
using tensor::DType;
using tensor::Tensor;

std::string npy(std::string_view dict, std::string_view elements, char version = 1) {
  std::string header = "\x93NUMPY";
  header += {version, 0, static_cast<char>(dict.size()), 0};
  if (version > 1) header += {0, 0};
  return header + std::string(dict) + std::string(elements);
}

std::string dict(std::string_view descr, std::string_view shape, std::string_view order = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr, order, shape);
}

Tensor read(const std::string& bytes) {
  const std::shared_ptr<const MappedFile> file = file_of(bytes);
  return npy_tensor(file, 0, file->size());
}

TEST(Npy, every_version) {
  for (const char version : {1, 2, 3}) {
    EXPECT_TRUE(is_same(read(npy(dict("<i2", "(2,)"), std::string("\1\0\2\0", 4), version)),
                        tensor_of<int16_t>(DType::int16, {2}, {1, 2})));
  }
  EXPECT_NE(error_of(npy(dict("<i2", "(2,)"), std::string("\1\0\2\0", 4), 4)), "");
}

TEST(Npy, keys_in_any_order_and_python_2_numbers) {
  EXPECT_TRUE(is_same(read(npy("{'shape': (1L, 2L), 'fortran_order': False, 'descr': \"|u1\"}", "ab")),
                      tensor_of<uint8_t>(DType::uint8, {1, 2}, {'a', 'b'})));
}

TEST(Npy, big_endian) {
  EXPECT_TRUE(is_same(read(npy(dict(">i4", "(2,)"), std::string("\0\0\0\1\0\0\1\0", 8))),
                      tensor_of<int32_t>(DType::int32, {2}, {1, 256})));
  EXPECT_TRUE(is_same(read(npy(dict(">c8", "()"), std::string("\x3f\x80\0\0\x40\0\0\0", 8))),
                      tensor_of<float>(DType::complex64, {}, {1, 2})));
}

TEST(Npy, fortran_order_becomes_c_order) {
  EXPECT_TRUE(is_same(read(npy(dict("|u1", "(2, 3)", "True"), "adbecf")),
                      tensor_of<uint8_t>(DType::uint8, {2, 3}, {'a', 'b', 'c', 'd', 'e', 'f'})));
  EXPECT_TRUE(is_same(read(npy(dict("|u1", "(2, 1, 2, 2)", "True"), "abcdefgh")),
                      tensor_of<uint8_t>(DType::uint8, {2, 1, 2, 2}, {'a', 'e', 'c', 'g', 'b', 'f', 'd', 'h'})));
  EXPECT_EQ(read(npy(dict("|u1", "(2, 0)", "True"), "")).count(), 0u);
}

TEST(Npy, strings) {
  EXPECT_TRUE(is_same(read(npy(dict("|S3", "(2,)"), std::string("ab\0c\0\0", 6))), strings_of({2}, {"ab", "c"})));
  EXPECT_TRUE(
      is_same(read(npy(dict("<U2", "()"), std::string("\xac\x20\0\0\0\0\0\0", 8))), strings_of({}, {"\xe2\x82\xac"})));
  EXPECT_TRUE(is_same(read(npy(dict(">U1", "(1,)"), std::string("\0\0\0a", 4))), strings_of({1}, {"a"})));
  EXPECT_NE(error_of(npy(dict("<U1", "(1,)"), std::string("\0\xd8\0\0", 4))), "");
  EXPECT_NE(error_of(npy(dict("<U0", "(1000000000,)"), "")), "");
}

TEST(Npy, what_is_refused_is_named) {
  EXPECT_NE(error_of(npy(dict("|O", "(2,)"), "abcd")).find("Python objects"), std::string::npos);
  EXPECT_NE(
      error_of(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", "abcd")).find("structured"),
      std::string::npos);
  EXPECT_NE(error_of(npy(dict("|V2", "(2,)"), "abcd")).find("`|V2`"), std::string::npos);
  EXPECT_NE(error_of(npy(dict("<M8[ns]", "(1,)"), "abcdefgh")).find("`<M8[ns]`"), std::string::npos);
  EXPECT_NE(error_of(npy(dict("<f4", "(2,)"), "abcd")).find("4 bytes of elements, but its header says 8"),
            std::string::npos);
  EXPECT_NE(error_of(npy(dict("<f4", "(1,)"), "abcdefgh")).find("8 bytes"), std::string::npos);
}

TEST(Npy, headers_that_are_wrong) {
  for (const char* text :
       {"", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'descr': '<f4', 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': 1, 'shape': ()}", "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
        "{'descr': '<f4', 'fortran_order': False, 'other': ()}"}) {
    EXPECT_NE(error_of(npy(text, "abcd")), "") << text;
  }
}

TEST(Npy, header_as_numpy_writes_it) {
  EXPECT_EQ(npy_header_text("<f4", {1, 2}), std::string("\x93NUMPY\1\0v\0", 10) +
                                                "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }" +
                                                std::string(58, ' ') + "\n");
  EXPECT_EQ(npy_header_text("<f4", {}).size() % 64, 0u);
  EXPECT_NE(npy_header_text("<f4", {3}).find("'shape': (3,), }"), std::string::npos);
  EXPECT_THROW(npy_header_text("<f4", tensor::Shape(30000, 1)), Error);
}

TEST(Npy, image_of_strings_has_the_width_of_the_longest) {
  const Tensor words = strings_of({2}, {"a", "\xf0\x9f\x98\x80z"});
  const NpyImage image(words);
  EXPECT_NE(image.header().find("'<U2'"), std::string::npos);
  EXPECT_EQ(image.elements().size(), 16u);
  EXPECT_THROW(NpyImage(tensor_of<uint16_t>(DType::bfloat16, {1}, {0})), Error);
}

}  // namespace
}  // namespace assay::formats
