// Files above 2 GB and fields above 4 GiB: sparse files of which only the headers are real.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "onnx/export/rope.h"
#include "support/model_checks.h"

namespace assay::onnx {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;

constexpr uint64_t kBytes = (uint64_t{5} << 30) + 8;

// A model whose initializer has kBytes of raw data, followed by a node.
fs::path put_big_model(const TemporaryFolder& folder) {
  const Wire weight = Wire().integer(1, kBytes / 4).integer(2, 1).text(8, "W").tag(9, 2).varint(kBytes);
  const Wire head = Wire().tag(5, 2).varint(weight.bytes().size() + kBytes).raw(weight.bytes());
  const Wire tail = graph({node("Relu", {"W"}, {"Y"}, "last")});
  const uint64_t graph_bytes = head.bytes().size() + kBytes + tail.bytes().size();
  const Wire start = Wire().integer(1, 10).message(8, opset(17)).tag(7, 2).varint(graph_bytes).raw(head.bytes());
  const fs::path path = folder.put("big.onnx", start.bytes());
  fs::resize_file(path, start.bytes().size() + kBytes);
  std::ofstream(path, std::ios::binary | std::ios::app) << tail.bytes();
  return path;
}

TEST(BigFile, a_field_of_5_gib_is_mapped_not_read) {
  const TemporaryFolder folder;
  const fs::path path = put_big_model(folder);
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  Diagnostics findings;
  const ir::Model loaded = import_file(MappedFile::open(path), findings);
  EXPECT_EQ(loaded[ir::TensorId{0}].tensor.size_bytes(), kBytes);
  EXPECT_EQ(loaded[node_at(loaded, 0)].name, "last");
  EXPECT_EQ(loaded[node_at(loaded, 0)].operands[0].value, loaded[loaded.main_graph()].initializers[0]);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 << 10);
}

TEST(BigFile, a_cut_big_file_is_damage) {
  const TemporaryFolder folder;
  const fs::path path = put_big_model(folder);
  for (const uint64_t size : {kBytes, uint64_t{1} << 32, uint64_t{3} << 30, (uint64_t{1} << 31) - 1, uint64_t{100}}) {
    fs::resize_file(path, size);
    Diagnostics findings;
    EXPECT_EQ(error_of([&] { import_file(MappedFile::open(path), findings); })->code(), ErrorCode::parse) << size;
  }
}

TEST(BigFile, a_length_beyond_32_bits_is_not_cut) {
  const TemporaryFolder folder;
  const Wire weight =
      Wire().integer(1, 2).integer(2, 1).text(8, "W").tag(9, 2).varint((uint64_t{1} << 32) + 8).raw("12345678");
  const Wire whole = model(graph({}).message(5, weight));
  EXPECT_NE(parse_error(whole.bytes()), "no error");
}

TEST(BigFile, a_message_around_5_gib_is_written_with_its_length) {
  Rope rope;
  Rope content;
  content.borrow(tensor::make_fill({std::byte{0}}, kBytes));
  rope.message_field(9, std::move(content));
  const size_t header = Wire().tag(9, 2).varint(kBytes).bytes().size();
  EXPECT_EQ(rope.size(), kBytes + header);
}

}  // namespace
}  // namespace assay::onnx
