#include "tensor/tensor.h"

#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "tensor/storage_file.h"

namespace assay::tensor {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

std::vector<std::byte> stored_bytes(std::string_view text) {
  const Bytes bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string stored_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

template <typename Fn>
std::string error_of(ErrorCode code, Fn&& fn) {
  try {
    fn();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.line();
  }
  return "no error";
}

TEST(Shape, element_count_is_exact_or_empty) {
  using Dims = std::vector<int64_t>;
  EXPECT_EQ(element_count(Dims{}), 1U);
  EXPECT_EQ(element_count(Dims{2, 3, 4}), 24U);
  EXPECT_EQ(element_count(Dims{kMost}), static_cast<uint64_t>(kMost));
  EXPECT_EQ(element_count(Dims{kMost, 2}), std::nullopt);
  EXPECT_EQ(element_count(Dims{int64_t{1} << 32, int64_t{1} << 32}), std::nullopt);
  EXPECT_EQ(element_count(Dims{kMost, 2, 0}), 0U);
  EXPECT_EQ(element_count(Dims{-1}), std::nullopt);
  EXPECT_EQ(element_count(Dims{0, -1}), std::nullopt);
}

TEST(Storage, owned_and_mapped_bytes) {
  EXPECT_EQ(stored_text(make_owned(stored_bytes("abc"))->bytes()), "abc");
  const std::vector<std::byte> content = stored_bytes("0123456789");
  const std::shared_ptr<const MappedFile> file = MappedFile::from_bytes(content, "data.bin");
  EXPECT_EQ(stored_text(make_mapped(file, 2, 3)->bytes()), "234");
  EXPECT_EQ(make_mapped(file, 10, 0)->size_bytes(), 0U);
  const std::string expected = "`data.bin` has 10 bytes, expected 3 bytes from offset 8";
  EXPECT_EQ(error_of(ErrorCode::io, [&] { make_mapped(file, 8, 3); }), expected);
  error_of(ErrorCode::io, [&] { make_mapped(file, std::numeric_limits<uint64_t>::max(), 2); });
}

TEST(Storage, is_written_from_memory_and_from_file_to_file) {
  const TemporaryFolder folder;
  std::vector<std::byte> content(3 << 20, std::byte{7});
  content[1] = std::byte{8};
  const auto written = [&](const Storage& storage, const char* name) {
    OutputFile file(folder.path() / name);
    write_to(file, storage);
    file.commit();
    return MappedFile::open(folder.path() / name);
  };
  const std::shared_ptr<const MappedFile> first = written(*make_owned(content), "first");
  EXPECT_EQ(stored_text(first->bytes()), stored_text(content));
  const std::shared_ptr<const MappedFile> part = written(*make_mapped(first, 1, 2 << 20), "part");
  EXPECT_EQ(stored_text(part->bytes()), stored_text(Bytes(content).subspan(1, 2 << 20)));
}

TEST(Storage, strings_have_no_bytes) {
  const StoragePtr storage = make_strings({"a", "bcd"});
  EXPECT_EQ(storage->strings()[1], "bcd");
  EXPECT_EQ(storage->size_bytes(), 4U);
  EXPECT_TRUE(storage->bytes().empty());
}

TEST(Storage, a_fill_repeats_its_pattern) {
  const StoragePtr storage = make_fill(stored_bytes("xyz"), 5);
  EXPECT_EQ(storage->size_bytes(), 15U);
  EXPECT_EQ(stored_text(storage->fill_pattern()), "xyz");
  EXPECT_EQ(stored_text(storage->bytes()), "xyzxyzxyzxyzxyz");
  EXPECT_EQ(storage->bytes().data(), storage->bytes().data());
  EXPECT_TRUE(make_fill(stored_bytes("x"), 0)->bytes().empty());
  EXPECT_TRUE(make_fill({}, 5)->bytes().empty());
}

TEST(Storage, a_fill_costs_nothing_until_it_is_read) {
  const StoragePtr huge = make_fill(stored_bytes("abcd"), uint64_t{1} << 60);
  EXPECT_EQ(huge->size_bytes(), uint64_t{1} << 62);
  EXPECT_EQ(error_of(ErrorCode::limit, [&] { huge->bytes(); }), "no memory for a filled tensor of 4.61 EB");
  error_of(ErrorCode::limit, [] { make_fill(stored_bytes("abcd"), uint64_t{1} << 62); });
  const StoragePtr zeros = make_fill(std::vector<std::byte>(4), uint64_t{1} << 28);
  EXPECT_EQ(zeros->bytes().size(), uint64_t{1} << 30);
  EXPECT_EQ(zeros->bytes().back(), std::byte{0});
}

TEST(Storage, a_fill_is_made_once_for_all_threads) {
  const StoragePtr storage = make_fill(stored_bytes("ab"), 100000);
  std::vector<const std::byte*> seen(4);
  std::vector<std::thread> threads;
  for (const std::byte*& data : seen) threads.emplace_back([&] { data = storage->bytes().data(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::byte* data : seen) EXPECT_EQ(data, seen[0]);
}

TEST(Tensor, knows_its_size) {
  const std::vector<float> elements = {1, 2, 3, 4, 5, 6};
  const Tensor tensor = make_tensor<float>(DType::float32, {2, 3}, elements);
  EXPECT_EQ(tensor.count(), 6U);
  EXPECT_EQ(tensor.size_bytes(), 24U);
  EXPECT_EQ(tensor.bytes().size(), 24U);
  EXPECT_EQ(Tensor().count(), 0U);
  EXPECT_TRUE(Tensor().bytes().empty());
}

TEST(Tensor, refuses_storage_that_is_too_small) {
  const auto make = [](DType dtype, Shape shape, size_t size) {
    return error_of(ErrorCode::shape, [&] { Tensor(dtype, shape, make_owned(std::vector<std::byte>(size))); });
  };
  EXPECT_EQ(make(DType::float32, {2, 2}, 15), "15 bytes of data, but float32[2,2] needs 16");
  EXPECT_EQ(make(DType::float32, {2, 2}, 16), "no error");
  EXPECT_EQ(make(DType::int4, {3}, 1), "1 bytes of data, but int4[3] needs 2");
  EXPECT_EQ(make(DType::int4, {3}, 2), "no error");
  EXPECT_EQ(make(DType::float32, {-1}, 16), "dims [-1] are negative or too large");
  EXPECT_EQ(make(DType::float32, {kMost, 4}, 16), "dims [9223372036854775807,4] are negative or too large");
  EXPECT_EQ(make(DType::float32, {kMost}, 16), "dims [9223372036854775807] of float32 are too large");
  EXPECT_EQ(error_of(ErrorCode::shape, [] { Tensor(DType::uint8, {1}, nullptr); }),
            "0 bytes of data, but uint8[1] needs 1");
}

TEST(Tensor, takes_any_storage_for_a_dtype_of_unknown_width) {
  EXPECT_EQ(Tensor(static_cast<DType>(77), {1000}, make_owned({})).count(), 1000U);
}

TEST(Tensor, counts_its_strings) {
  const Tensor tensor(DType::string, {2}, make_strings({"a", "b"}));
  EXPECT_EQ(tensor.strings().size(), 2U);
  const Tensor few(DType::string, {3}, make_strings({"a", "b"}));
  EXPECT_EQ(error_of(ErrorCode::shape, [&] { few.strings(); }), "2 strings of data, but string[3] needs 3");
  const Tensor none(DType::string, {1}, nullptr);
  error_of(ErrorCode::shape, [&] { none.strings(); });
}

}  // namespace
}  // namespace assay::tensor
