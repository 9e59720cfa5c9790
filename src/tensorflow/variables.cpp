#include "base/error.h"
#include "onnx/wire.h"
#include "tensorflow/read.h"
#include "tensorflow/table_reader.h"

namespace assay::tensorflow {
namespace {

using onnx::Field;
using onnx::FieldReader;

[[noreturn]] void fail_variables() { fail(ErrorCode::parse, "the index of the variables is damaged"); }

// BundleEntryProto: `dtype` 1, `shape` 2 with `dim` 2 and `size` 1, `size` 5.
results::ValueInfo entry(const std::string& name, Bytes bytes, uint64_t& size_bytes) {
  results::ValueInfo info{.name = name, .type = {}, .ranked = true, .shape = {}};
  const onnx::Message message{.bytes = bytes, .origin = bytes.data()};
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 1) info.type = tensorflow_type(field.value);
    if (field.number == 5) size_bytes += field.value;
    if (field.number != 2) continue;
    const onnx::Message shape = onnx::as_message(message, field, "shape");
    Field dim;
    for (FieldReader dims(shape); dims.next(dim);) {
      if (dim.number != 2) continue;
      int64_t number = 0;
      Field part;
      for (FieldReader parts(onnx::as_message(shape, dim, "dim")); parts.next(part);) {
        if (part.number == 1) number = onnx::as_int(part, "size");
      }
      info.shape.push_back({number, ""});
    }
  }
  return info;
}

uint64_t shards_of(Bytes header) {
  uint64_t shards = 1;
  Field field;
  for (FieldReader fields({.bytes = header, .origin = header.data()}); fields.next(field);) {
    if (field.number == 1) shards = field.value;
  }
  return shards;
}

}  // namespace

uint64_t read_variables(Bytes index, results::TensorFlowListing& listing) {
  uint64_t shards = 0;
  const auto done = attempt([&] {
    read_table(index, [&](const std::string& key, Bytes value) {
      if (key.empty())
        shards = shards_of(value);
      else if (key != "_CHECKPOINTABLE_OBJECT_GRAPH")
        listing.variables.push_back(entry(key, value, listing.variable_bytes));
    });
    return true;
  });
  const Error* const error = std::get_if<Error>(&done);
  if (error != nullptr && error->code() == ErrorCode::parse) fail_variables();  // the reader of fields speaks of ONNX
  if (error != nullptr) throw *error;
  return shards;
}

}  // namespace assay::tensorflow
