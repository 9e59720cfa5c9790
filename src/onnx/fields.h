#pragma once

#include <cstdint>

// Field numbers of ONNX's messages, by message.
namespace assay::onnx::field {

namespace model {
enum : uint32_t {
  ir_version = 1,
  producer_name = 2,
  producer_version = 3,
  domain = 4,
  model_version = 5,
  doc_string = 6,
  graph = 7,
  opset_import = 8,
  metadata_props = 14,
  training_info = 20,
  functions = 25,
};
}

namespace graph {
enum : uint32_t {
  node = 1,
  name = 2,
  initializer = 5,
  doc_string = 10,
  input = 11,
  output = 12,
  value_info = 13,
  sparse_initializer = 15,
};
}

namespace node {
enum : uint32_t { input = 1, output = 2, name = 3, op_type = 4, attribute = 5, domain = 7, overload = 8 };
}

namespace attribute {
enum : uint32_t {
  name = 1,
  f = 2,
  i = 3,
  s = 4,
  t = 5,
  g = 6,
  floats = 7,
  ints = 8,
  strings = 9,
  tensors = 10,
  graphs = 11,
  type_proto = 14,
  type_protos = 15,
  type = 20,
  ref_attr_name = 21,
  sparse_tensor = 22,
  sparse_tensors = 23,
};
}

namespace tensor {
enum : uint32_t {
  dims = 1,
  data_type = 2,
  segment = 3,
  float_data = 4,
  int32_data = 5,
  string_data = 6,
  int64_data = 7,
  name = 8,
  raw_data = 9,
  double_data = 10,
  uint64_data = 11,
  doc_string = 12,
  external_data = 13,
  data_location = 14,
};
}

namespace sparse_tensor {
enum : uint32_t { values = 1, indices = 2, dims = 3 };
}

namespace value_info {
enum : uint32_t { name = 1, type = 2 };
}

namespace type {
enum : uint32_t { tensor = 1, sequence = 4, map = 5, denotation = 6, opaque = 7, sparse_tensor = 8, optional = 9 };
}

namespace tensor_type {
enum : uint32_t { elem_type = 1, shape = 2 };
}

namespace map_type {
enum : uint32_t { key_type = 1, value_type = 2 };
}

namespace opaque_type {
enum : uint32_t { domain = 1, name = 2 };
}

namespace shape {
enum : uint32_t { dim = 1 };
}

namespace dim {
enum : uint32_t { value = 1, param = 2 };
}

namespace entry {
enum : uint32_t { key = 1, value = 2 };
}

namespace opset {
enum : uint32_t { domain = 1, version = 2 };
}

namespace function {
enum : uint32_t {
  name = 1,
  input = 4,
  output = 5,
  attribute = 6,
  node = 7,
  doc_string = 8,
  opset_import = 9,
  domain = 10,
  attribute_proto = 11,
  value_info = 12,
  overload = 13,
};
}

// Fields of onnx-data.proto: sequences and optionals share the numbers of what they hold.
namespace container {
enum : uint32_t { elem_type = 2, tensor = 3, sparse_tensor = 4, sequence = 5, map = 6, optional = 7 };
}

namespace map {
enum : uint32_t { key_type = 2, keys = 3, string_keys = 4, values = 5 };
}

}  // namespace assay::onnx::field
