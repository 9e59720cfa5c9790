#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "onnx/wire.h"
#include "tensorflow/read.h"

namespace assay::tensorflow {
namespace {

using onnx::Field;
using onnx::FieldReader;
using onnx::Message;

// Numbers of fields, by message.
constexpr uint32_t kKey = 1;
constexpr uint32_t kValue = 2;

Message inside(const Message& parent, const Field& field) { return onnx::as_message(parent, field, "a message"); }
std::string text_of(const Field& field) { return std::string(onnx::as_string(field, "a text")); }

// TensorShapeProto: `dim` 2 with `size` 1; `unknown_rank` 3.
void read_shape(const Message& message, results::ValueInfo& info) {
  info.ranked = true;
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 3 && field.value != 0) info.ranked = false;
    if (field.number != 2) continue;
    const Message dim = inside(message, field);
    int64_t size = 0;
    Field part;
    for (FieldReader parts(dim); parts.next(part);) {
      if (part.number == 1) size = onnx::as_int(part, "size");
    }
    info.shape.push_back({size < 0 ? std::nullopt : std::optional(size), ""});
  }
}

// Facts of a node's attributes.
struct NodeFacts {
  results::ValueInfo value;
  uint64_t constant_bytes = 0;
};

class GraphReader {
 public:
  explicit GraphReader(results::TensorFlowListing& listing) : listing_(listing) {}

  // GraphDef: `node` 1, `library` 2, `versions` 4.
  void read(const Message& message, std::string name) {
    results::TensorFlowGraph graph{.name = std::move(name)};
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 1) add_node(inside(message, field), graph);
      if (field.number == 2) read_library(inside(message, field));
      if (field.number == 4) read_versions(inside(message, field));
    }
    listing_.graphs.push_back(std::move(graph));
  }

 private:
  // NodeDef: `name` 1, `op` 2, `input` 3, `attr` 5.
  void add_node(const Message& message, results::TensorFlowGraph& graph) {
    results::TensorFlowNode node;
    NodeFacts facts;
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 1) node.name = text_of(field);
      if (field.number == 2) node.op = text_of(field);
      if (field.number == 3) node.inputs.push_back(text_of(field));
      if (field.number == 5) read_attribute(inside(message, field), facts);
    }
    ++listing_.op_histogram[node.op];
    if (node.op == "Const") {
      ++listing_.constant_count;
      listing_.constant_bytes += facts.constant_bytes;
    }
    facts.value.name = node.name;
    if (node.op == "Placeholder" || node.op == "PlaceholderWithDefault") graph.inputs.push_back(facts.value);
    graph.nodes.push_back(std::move(node));
    ++graph.node_count;
  }

  // A name and an AttrValue: `type` 6, `shape` 7, `tensor` 8.
  void read_attribute(const Message& message, NodeFacts& facts) {
    std::string key;
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == kKey) key = text_of(field);
      if (field.number != kValue) continue;
      const Message value = inside(message, field);
      Field part;
      for (FieldReader parts(value); parts.next(part);) {
        if (part.number == 6 && key == "dtype") facts.value.type = tensorflow_type(part.value);
        if (part.number == 7 && key == "shape") read_shape(inside(value, part), facts.value);
        if (part.number == 8 && key == "value") facts.constant_bytes += part.payload.size();
      }
    }
  }

  // FunctionDefLibrary: `function` 1.
  void read_library(const Message& message) {
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 1) read_function(inside(message, field));
    }
  }

  // FunctionDef: `signature` 1, `node_def` 3.
  void read_function(const Message& message) {
    results::TensorFlowGraph function;
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 1) read_interface(inside(message, field), function);
      if (field.number == 3) add_node(inside(message, field), function);
    }
    listing_.functions.push_back(std::move(function));
  }

  // OpDef: `name` 1, `input_arg` 2, `output_arg` 3, each with `name` 1 and `type` 3.
  void read_interface(const Message& message, results::TensorFlowGraph& function) {
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 1) function.name = text_of(field);
      if (field.number != 2 && field.number != 3) continue;
      results::ValueInfo info;
      const Message argument = inside(message, field);
      Field part;
      for (FieldReader parts(argument); parts.next(part);) {
        if (part.number == 1) info.name = text_of(part);
        if (part.number == 3) info.type = tensorflow_type(part.value);
      }
      (field.number == 2 ? function.inputs : function.outputs).push_back(std::move(info));
    }
  }

  // VersionDef: `producer` 1.
  void read_versions(const Message& message) {
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 1 && listing_.version.empty()) listing_.version = fmt::format("graph {}", field.value);
    }
  }

  results::TensorFlowListing& listing_;
};

// TensorInfo: `name` 1, `dtype` 2, `tensor_shape` 3.
results::ValueInfo tensor_info(const Message& message) {
  results::ValueInfo info;
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 1) info.name = text_of(field);
    if (field.number == 2) info.type = tensorflow_type(field.value);
    if (field.number == 3) read_shape(inside(message, field), info);
  }
  return info;
}

// SignatureDef: `inputs` 1 and `outputs` 2, by name.
void read_signature(const Message& message, results::TensorFlowSignature& signature) {
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number != 1 && field.number != 2) continue;
    std::pair<std::string, results::ValueInfo> argument;
    const Message entry = inside(message, field);
    Field part;
    for (FieldReader parts(entry); parts.next(part);) {
      if (part.number == kKey) argument.first = text_of(part);
      if (part.number == kValue) argument.second = tensor_info(inside(entry, part));
    }
    (field.number == 1 ? signature.inputs : signature.outputs).push_back(std::move(argument));
  }
}

// MetaInfoDef: `tags` 4, `tensorflow_version` 5.
std::string read_tags(const Message& message, results::TensorFlowListing& listing) {
  std::string tags;
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 4) tags += (tags.empty() ? "" : ", ") + text_of(field);
    if (field.number == 5) listing.version = "TensorFlow " + text_of(field);
  }
  return tags;
}

// MetaGraphDef: `meta_info_def` 1, `graph_def` 2, `signature_def` 5.
void read_meta_graph(const Message& message, results::TensorFlowListing& listing) {
  std::string tags;
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 1) tags = read_tags(inside(message, field), listing);
    if (field.number == 2) GraphReader(listing).read(inside(message, field), tags);
    if (field.number != 5) continue;
    results::TensorFlowSignature signature{.name = {}, .tags = tags};
    const Message entry = inside(message, field);
    Field part;
    for (FieldReader parts(entry); parts.next(part);) {
      if (part.number == kKey) signature.name = text_of(part);
      if (part.number == kValue) read_signature(inside(entry, part), signature);
    }
    listing.signatures.push_back(std::move(signature));
  }
}

// Says in words about TensorFlow that a file is damaged: those of the reader of fields are about ONNX.
template <typename Fn>
results::TensorFlowListing reading(Bytes bytes, std::string_view kind, Fn&& read) {
  results::TensorFlowListing listing;
  listing.kind = kind;
  const auto done = attempt([&] {
    read(Message{.bytes = bytes, .origin = bytes.data()}, listing);
    return true;
  });
  const Error* const error = std::get_if<Error>(&done);
  if (error != nullptr && error->code() != ErrorCode::parse) throw *error;
  if (error != nullptr) fail(ErrorCode::parse, "the file is no {} of TensorFlow, or is damaged", kind);
  return listing;
}

}  // namespace

results::TensorFlowListing read_frozen_graph(Bytes bytes) {
  return reading(bytes, "frozen graph", [](const Message& message, results::TensorFlowListing& listing) {
    GraphReader(listing).read(message, "");
    if (listing.graphs.front().nodes.empty()) fail(ErrorCode::parse, "no nodes");
  });
}

// SavedModel: `meta_graphs` 2.
results::TensorFlowListing read_saved_model(Bytes bytes) {
  return reading(bytes, "SavedModel", [](const Message& message, results::TensorFlowListing& listing) {
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 2) read_meta_graph(inside(message, field), listing);
    }
    if (listing.graphs.empty()) fail(ErrorCode::parse, "no graphs");
  });
}

}  // namespace assay::tensorflow
