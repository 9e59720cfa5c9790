#pragma once

#include <cstdint>

namespace assay::tensorflow {

// Numbers of fields in the schema of TFLite.
namespace model {
enum : unsigned { version, operator_codes, subgraphs, description, buffers, metadata_buffer, metadata, signatures };
}
namespace code {
enum : unsigned { short_builtin, custom, version, builtin };
}
namespace subgraph {
enum : unsigned { tensors, inputs, outputs, operators, name };
}
namespace tensor_field {
enum : unsigned { shape, type, buffer, name, quantization, is_variable, sparsity, shape_signature };
}
namespace op_field {
enum : unsigned { opcode, inputs, outputs, options_kind, options };
}
namespace quantization {
enum : unsigned { least, most, scale, zero_point, details_kind, details, axis };
}
namespace buffer_field {
enum : unsigned { data, offset, size };
}
namespace signature_field {
enum : unsigned { inputs, outputs, key, unused, subgraph };
}
constexpr int32_t kCustom = 32;  // the number of operators that are named by a text

}  // namespace assay::tensorflow
