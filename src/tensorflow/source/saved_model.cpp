#include "tensorflow/source/saved_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "tensorflow/source/dtypes.h"
#include "tensorflow/source/first_generation.h"
#include "tensorflow/source/graph_def.h"
#include "tensorflow/source/restored.h"
#include "tensorflow/source/tensor_proto.h"

namespace assay::tensorflow {
namespace {

namespace fs = std::filesystem;

using onnx::Field;
using onnx::FieldReader;
using onnx::Message;

constexpr std::string_view kDefaultSignature = "serving_default";

Message part_of(const Message& parent, const Field& field) { return onnx::as_message(parent, field, "a message"); }

// An argument of a signature: its name, and a TensorInfo: `name` 1, `dtype` 2, `tensor_shape` 3.
struct Argument {
  SourcePort port;
  SourceValue value;
};

struct Signature {
  std::string name;
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
};

Argument read_argument(const Message& message) {
  Argument argument;
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 1) argument.port.name = onnx::as_string(field, "name");
    if (field.number != 2) continue;
    const Message info = part_of(message, field);
    Field part;
    for (FieldReader parts(info); parts.next(part);) {
      if (part.number == 1) argument.port.value = value_name(onnx::as_string(part, "name"));
      if (part.number == 2) argument.value.dtype = tensorflow_dtype(part.value);
      if (part.number == 3) argument.value.dims = read_shape_proto(part_of(info, part));
    }
  }
  return argument;
}

// A name and a SignatureDef: `inputs` 1, `outputs` 2.
Signature read_signature(const Message& message) {
  Signature signature;
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 1) signature.name = onnx::as_string(field, "name");
    if (field.number != 2) continue;
    const Message value = part_of(message, field);
    Field part;
    for (FieldReader parts(value); parts.next(part);) {
      if (part.number == 1) signature.inputs.push_back(read_argument(part_of(value, part)));
      if (part.number == 2) signature.outputs.push_back(read_argument(part_of(value, part)));
    }
  }
  return signature;
}

// Parts of a MetaGraphDef: `meta_info_def` 1, `graph_def` 2, `saver_def` 3, `signature_def` 5.
struct MetaGraph {
  std::vector<std::string> tags;
  std::string version;
  std::optional<Message> graph;
  std::string restore_node;
  std::vector<Signature> signatures;
};

void read_info(const Message& message, MetaGraph& meta) {
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 4) meta.tags.emplace_back(onnx::as_string(field, "tags"));
    if (field.number == 5) meta.version = onnx::as_string(field, "tensorflow_version");
  }
}

MetaGraph read_meta_graph(const Message& message) {
  MetaGraph meta;
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 1) read_info(part_of(message, field), meta);
    if (field.number == 2) meta.graph = part_of(message, field);
    if (field.number == 5) meta.signatures.push_back(read_signature(part_of(message, field)));
    if (field.number != 3) continue;
    Field part;
    for (FieldReader parts(part_of(message, field)); parts.next(part);) {
      if (part.number == 3) meta.restore_node = onnx::as_string(part, "restore_op_name");
    }
  }
  std::ranges::sort(meta.signatures, {}, &Signature::name);
  return meta;
}

// The graph for serving, or the first.
MetaGraph choose_graph(const Message& message) {
  std::vector<MetaGraph> all;
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 2) all.push_back(read_meta_graph(part_of(message, field)));
  }
  if (all.empty()) fail(ErrorCode::parse, "no graphs");
  const auto serves = [](const MetaGraph& meta) { return std::ranges::find(meta.tags, "serve") != meta.tags.end(); };
  const auto found = std::ranges::find_if(all, serves);
  return std::move(found == all.end() ? all.front() : *found);
}

// Signatures that programs use for themselves are not for users.
bool is_internal(const Signature& signature) { return signature.name.starts_with("__saved_model"); }

const Signature* choose_signature(const MetaGraph& meta, const std::string& wanted) {
  const std::string_view name = wanted.empty() ? kDefaultSignature : std::string_view(wanted);
  const auto found = std::ranges::find(meta.signatures, name, &Signature::name);
  if (found != meta.signatures.end()) return &*found;
  std::vector<std::string> names;
  const Signature* other = nullptr;
  for (const Signature& signature : meta.signatures) {
    if (is_internal(signature)) continue;
    names.push_back(printable(signature.name));
    other = &signature;
  }
  if (!wanted.empty()) {
    fail(ErrorCode::usage, "the model has no signature `{}`, but: {}", printable(wanted), join(names, ", "));
  }
  if (names.size() > 1)
    fail(ErrorCode::usage, "the model has several signatures, of which one must be chosen: {}", join(names, ", "));
  return other;
}

void use_signature(Signature signature, SourceModel& model) {
  std::ranges::sort(signature.inputs, {}, [](const Argument& each) { return each.port.name; });
  std::ranges::sort(signature.outputs, {}, [](const Argument& each) { return each.port.name; });
  for (const Argument& argument : signature.inputs) {
    model.main.values[argument.port.value] = argument.value;
    model.main.inputs.push_back(argument.port);
  }
  for (const Argument& argument : signature.outputs) model.main.outputs.push_back(argument.port);
}

SourceModel read_source(const fs::path& folder, const std::shared_ptr<const MappedFile>& file,
                        const std::string& wanted, const std::vector<std::string>& outputs) {
  const MetaGraph meta = choose_graph(Message{.bytes = file->bytes(), .origin = file->bytes().data()});
  SourceModel model;
  model.producer = meta.version.empty() ? "TensorFlow" : "TensorFlow " + meta.version;
  if (!meta.graph) fail(ErrorCode::parse, "no graph");
  read_graph_def(*meta.graph, file, model);
  const Signature* const signature = choose_signature(meta, wanted);
  if (signature == nullptr) {
    choose_ports(model, outputs);
  } else {
    use_signature(*signature, model);
    raise_control_flow(model);
    if (!outputs.empty()) choose_outputs(model, outputs);
  }
  const fs::path variables = folder / "variables" / "variables";
  if (is_file(variables.string() + ".index")) restore_variables(read_checkpoint(variables), meta.restore_node, model);
  return model;
}

}  // namespace

SourceModel read_saved_model_source(const fs::path& folder, const std::string& signature,
                                    const std::vector<std::string>& outputs) {
  const auto file = MappedFile::open(folder / "saved_model.pb");
  return read_source(folder, file, signature, outputs);
}

}  // namespace assay::tensorflow
