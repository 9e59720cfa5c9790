#include "formats/numpy/npz.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "formats/numpy/zip.h"
#include "support/data_files.h"

namespace assay::formats {
namespace {

using namespace testing_support;
using tensor::DType;
using tensor::NamedData;
using tensor::Tensor;

class Npz : public testing::Test {
 protected:
  NamedData round_trip(const NamedData& arrays) {
    write_npz(folder_ / "a.npz", arrays);
    return read_npz(MappedFile::open(folder_ / "a.npz"));
  }
  std::string archive(const std::vector<std::pair<std::string, std::string>>& members) {
    OutputFile out(folder_ / "b.npz");
    ZipWriter zip(out);
    for (const auto& [name, content] : members) zip.add(name, std::as_bytes(std::span(content)), {});
    zip.finish();
    out.commit();
    return folder_.read("b.npz");
  }

  DataFolder folder_;
  const NamedData arrays_ = {{"x/y", tensor_of<float>(DType::float32, {2, 1}, {1, 2})},
                             {"\xc3\xa9", strings_of({1}, {"a"})},
                             {"empty", Tensor(DType::int64, {0, 5}, tensor::make_owned({}))}};
};

TEST_F(Npz, what_is_written_comes_back) { EXPECT_TRUE(is_same(round_trip(arrays_), arrays_)); }

TEST_F(Npz, types_that_numpy_does_not_have) {
  const NamedData arrays = {{"b", tensor_of<uint16_t>(DType::bfloat16, {2, 1}, {1, 2})},
                            {"f", tensor_of<uint8_t>(DType::float8e4m3fn, {3}, {1, 2, 3})},
                            {"i", tensor_of<uint8_t>(DType::int4, {3, 1}, {0x21, 3})},
                            {"s", tensor_of<uint8_t>(DType::uint2, {}, {3})}};
  EXPECT_TRUE(is_same(round_trip(arrays), arrays));
}

TEST_F(Npz, marks_that_do_not_fit) {
  const NamedData bits = {{"x", tensor_of<uint8_t>(DType::uint8, {2}, {1, 2})},
                          {"x.assay_dtype", strings_of({}, {"int4[5]"})}};
  EXPECT_THROW(round_trip(bits), Error);
  const NamedData unknown = {bits[0], {"x.assay_dtype", strings_of({}, {"float99"})}};
  EXPECT_THROW(round_trip(unknown), Error);
  const NamedData no_array = {{"y.assay_dtype", strings_of({}, {"int4[5]"})}};
  EXPECT_TRUE(is_same(round_trip(no_array), no_array));
}

TEST_F(Npz, equal_content_gives_equal_files) {
  write_npz(folder_ / "a.npz", arrays_);
  write_npz(folder_ / "c.npz", arrays_);
  EXPECT_EQ(folder_.read("a.npz"), folder_.read("c.npz"));
}

TEST_F(Npz, what_is_refused_is_named) {
  EXPECT_NE(error_of(archive({{"notes.txt", "hello"}})).find("`notes.txt` is no array"), std::string::npos);
  EXPECT_NE(error_of(archive({{"x.npy", "hello"}})).find("member `x.npy`"), std::string::npos);
  const NamedData sequence = {{"s", tensor::Datum::sequence({})}};
  EXPECT_THROW(write_npz(folder_ / "a.npz", sequence), Error);
}

TEST_F(Npz, a_name_that_stands_twice) {
  NamedData twice = arrays_;
  twice.push_back(arrays_[0]);
  write_npz(folder_ / "a.npz", twice);
  EXPECT_NE(error_of(folder_.read("a.npz")).find("occurs twice"), std::string::npos);
}

TEST_F(Npz, an_archive_without_arrays) { EXPECT_TRUE(round_trip({}).empty()); }

// Made by NumPy: savez_compressed(a=arange(9, dtype=int16).reshape(3, 3)).
constexpr std::string_view kCompressed =
    "UEsDBC0AAAAIAAAAIQBKZwFa//////////8FABQAYS5ucHkBABAAkgAAAAAAAABYAAAAAAAAAJvsF+obEMnIUMZQrZ6SWpxcpG6l"
    "oG6TaaSuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GsY6CsaaOgq1CmQDLgYGRgYmBmYGFgZWBjYGdgYOBgBQSwECLQMt"
    "AAAACAAAACEASmcBWlgAAACSAAAABQAAAAAAAAAAAAAAgAEAAAAAYS5ucHlQSwUGAAAAAAEAAQAzAAAAjwAAAAAA";

TEST_F(Npz, a_wrong_checksum_shows_when_the_elements_are_used) {
  std::string bytes = base64_decode_start(kCompressed, kCompressed.size());
  EXPECT_TRUE(is_same(read_npz(file_of(bytes)),
                      {{"a", tensor_of<int16_t>(DType::int16, {3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8})}}));
  EXPECT_EQ(error_of(bytes), "");
  const size_t entry = bytes.find("PK\x01\x02");
  bytes[entry + 16] = static_cast<char>(bytes[entry + 16] ^ 1);
  EXPECT_NE(error_of(bytes).find("CRC"), std::string::npos);
}

}  // namespace
}  // namespace assay::formats
