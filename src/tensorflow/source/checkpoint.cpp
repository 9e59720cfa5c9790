#include "tensorflow/source/checkpoint.h"

#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "tensorflow/source/dtypes.h"
#include "tensorflow/source/tensor_proto.h"
#include "tensorflow/table_reader.h"

namespace assay::tensorflow {
namespace {

namespace fs = std::filesystem;

using onnx::Field;
using onnx::FieldReader;
using onnx::Message;

constexpr std::string_view kObjects = "_CHECKPOINTABLE_OBJECT_GRAPH";
constexpr uint64_t kMostShards = 100'000;

// BundleEntryProto: `dtype` 1, `shape` 2, `shard_id` 3, `offset` 4, `size` 5.
struct Entry {
  tensor::DType dtype = tensor::DType::undefined;
  std::vector<int64_t> dims;
  uint64_t shard = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};

Entry read_entry(Bytes bytes) {
  Entry entry;
  const Message message{.bytes = bytes, .origin = bytes.data()};
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 1) entry.dtype = tensorflow_dtype(field.value);
    if (field.number == 2)
      entry.dims = read_shape_proto(onnx::as_message(message, field, "shape")).value_or(entry.dims);
    if (field.number == 3) entry.shard = field.value;
    if (field.number == 4) entry.offset = field.value;
    if (field.number == 5) entry.size = field.value;
  }
  return entry;
}

class CheckpointReader {
 public:
  explicit CheckpointReader(fs::path prefix) : prefix_(std::move(prefix)) {}

  Checkpoint read() {
    const auto index = MappedFile::open(prefix_.string() + ".index");
    read_table(index->bytes(), [&](const std::string& key, Bytes value) {
      if (key.empty()) return read_header(value);
      const Entry entry = read_entry(value);
      if (key == kObjects) return read_objects(entry);
      add(key, entry);
    });
    return std::move(checkpoint_);
  }

 private:
  // BundleHeaderProto: `num_shards` 1.
  void read_header(Bytes header) {
    Field field;
    for (FieldReader fields({.bytes = header, .origin = header.data()}); fields.next(field);) {
      if (field.number == 1) shards_ = field.value;
    }
    if (shards_ > kMostShards) fail(ErrorCode::parse, "the index of the variables names {} shards", shards_);
  }

  void add(const std::string& key, const Entry& entry) {
    const uint64_t needed = bytes_needed(entry.dtype, entry.dims);
    if (entry.dtype == tensor::DType::string || tensor::bit_width(entry.dtype) == 0) return;
    if (needed > entry.size) fail(ErrorCode::parse, "the variable `{}` is damaged", printable(key));
    const auto& file = shard(entry);
    checkpoint_.tensors.insert_or_assign(
        key, tensor::Tensor(entry.dtype, entry.dims, tensor::make_mapped(file, entry.offset, needed)));
  }

  // The file of a shard, in which the entry lies.
  const std::shared_ptr<const MappedFile>& shard(const Entry& entry) {
    if (entry.shard >= shards_) fail(ErrorCode::parse, "the index of the variables names a shard that is not there");
    auto& file = files_[entry.shard];
    if (!file) {
      const fs::path path = fmt::format("{}.data-{:05}-of-{:05}", prefix_.string(), entry.shard, shards_);
      if (!is_file(path)) {
        fail(ErrorCode::parse, "`{}` is missing, where variables have their values",
             printable(path.filename().string()));
      }
      file = MappedFile::open(path);
    }
    if (entry.offset > file->size() || entry.size > file->size() - entry.offset) {
      fail(ErrorCode::parse, "`{}` ends before a variable does", printable(file->path().filename().string()));
    }
    return file;
  }

  // One text, behind its length and a checksum: a graph of objects with `nodes` 1, which have `attributes` 2 with
  // `full_name` 2 and `checkpoint_key` 3.
  void read_objects(const Entry& entry) {
    constexpr uint64_t kChecksum = 4;
    Bytes bytes = shard(entry)->bytes().subspan(entry.offset, entry.size);
    const std::optional<uint64_t> size = onnx::take_varint(bytes);
    if (!size || bytes.size() < kChecksum || *size > bytes.size() - kChecksum) return;
    bytes = bytes.subspan(kChecksum, *size);
    const Message message{.bytes = bytes, .origin = bytes.data()};
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 1) read_object(onnx::as_message(message, field, "nodes"));
    }
  }

  void read_object(const Message& message) {
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number != 2) continue;
      std::string name;
      std::string key;
      Field part;
      for (FieldReader parts(onnx::as_message(message, field, "attributes")); parts.next(part);) {
        if (part.number == 2) name = onnx::as_string(part, "full_name");
        if (part.number == 3) key = onnx::as_string(part, "checkpoint_key");
      }
      checkpoint_.keys.emplace(std::move(name), std::move(key));
    }
  }

  fs::path prefix_;
  uint64_t shards_ = 1;
  std::map<uint64_t, std::shared_ptr<const MappedFile>> files_;
  Checkpoint checkpoint_;
};

}  // namespace

Checkpoint read_checkpoint(const fs::path& prefix) { return CheckpointReader(prefix).read(); }

}  // namespace assay::tensorflow
