#include "engine/plan/manifest.h"

#include "base/error.h"
#include "base/text.h"
#include "engine/plan/records.h"

namespace assay::engine {
namespace {

constexpr int kDeepestType = 64;

void write(RecordWriter& out, const exec::PortType& type) {
  out.number(static_cast<uint64_t>(type.kind)).number(static_cast<uint32_t>(type.dtype)).number(type.ranked ? 1 : 0);
  out.number(type.dims.size());
  for (const exec::PortDim& dim : type.dims) {
    out.number(dim.size ? 1 : 0).number(static_cast<uint64_t>(dim.size.value_or(0))).text(dim.text);
  }
  out.number(type.element.size());
  for (const exec::PortType& element : type.element) write(out, element);
}

exec::PortType read_type(RecordReader& in, int depth = 0) {
  if (depth > kDeepestType) in.refuse();
  exec::PortType type;
  const uint64_t kind = in.number();
  const uint64_t dtype = in.number();
  if (kind > static_cast<uint64_t>(ir::TypeKind::opaque) || dtype > INT32_MAX) in.refuse();
  type.kind = static_cast<ir::TypeKind>(kind);
  type.dtype = static_cast<tensor::DType>(dtype);
  type.ranked = in.truth();
  for (uint64_t left = in.count(); left > 0; --left) {
    exec::PortDim dim;
    const bool is_fixed = in.truth();
    const uint64_t size = in.number();
    if (size > INT64_MAX) in.refuse();
    if (is_fixed) dim.size = static_cast<int64_t>(size);
    dim.text = in.text();
    type.dims.push_back(std::move(dim));
  }
  for (uint64_t left = in.count(); left > 0; --left) type.element.push_back(read_type(in, depth + 1));
  return type;
}

void write(RecordWriter& out, const std::vector<exec::Port>& ports) {
  out.number(ports.size());
  for (const exec::Port& port : ports) {
    out.text(port.name).number(port.has_default ? 1 : 0).number(port.is_shape ? 1 : 0).number(port.type ? 1 : 0);
    if (port.type) write(out, *port.type);
  }
}

std::vector<exec::Port> read_ports(RecordReader& in) {
  std::vector<exec::Port> ports;
  for (uint64_t left = in.count(); left > 0; --left) {
    exec::Port port;
    port.name = in.text();
    port.has_default = in.truth();
    port.is_shape = in.truth();
    if (in.truth()) port.type = read_type(in);
    ports.push_back(std::move(port));
  }
  return ports;
}

void write(RecordWriter& out, const Profile& profile) {
  out.number(profile.size());
  for (const ShapeRange& range : profile) {
    out.text(range.input).number(range.is_values ? 1 : 0);
    out.shape(range.least).shape(range.best).shape(range.most);
  }
}

Profile read_profile(RecordReader& in) {
  Profile profile;
  for (uint64_t left = in.count(); left > 0; --left) {
    ShapeRange range;
    range.input = in.text();
    range.is_values = in.truth();
    range.least = in.shape();
    range.best = in.shape();
    range.most = in.shape();
    if (range.most.size() != range.least.size() || range.best.size() != range.least.size()) in.refuse();
    profile.push_back(std::move(range));
  }
  return profile;
}

void write(RecordWriter& out, const Precision& precision) {
  out.number(precision.bfloat16 ? 1 : 0).number(precision.float16 ? 1 : 0).number(precision.is_obeyed ? 1 : 0);
  out.number(precision.tf32 ? 1 : 0);
  out.texts(precision.float32_layers).texts(precision.bfloat16_layers).texts(precision.float16_layers);
}

Precision read_precision(RecordReader& in) {
  Precision precision;
  precision.bfloat16 = in.truth();
  precision.float16 = in.truth();
  precision.is_obeyed = in.truth();
  precision.tf32 = in.truth();
  precision.float32_layers = in.texts();
  precision.bfloat16_layers = in.texts();
  precision.float16_layers = in.texts();
  return precision;
}

void write(RecordWriter& out, const std::vector<PlacedWeights>& weights) {
  out.number(weights.size());
  for (const PlacedWeights& placed : weights) out.text(placed.name).number(placed.section);
}

std::vector<PlacedWeights> read_weights(RecordReader& in) {
  std::vector<PlacedWeights> weights;
  for (uint64_t left = in.count(); left > 0; --left) {
    std::string name = in.text();
    weights.push_back({std::move(name), in.number()});
  }
  return weights;
}

void write(RecordWriter& out, const std::vector<LayerTensor>& tensors) {
  out.number(tensors.size());
  for (const LayerTensor& tensor : tensors) {
    out.text(tensor.name).number(static_cast<uint32_t>(tensor.dtype)).shape(tensor.dims).text(tensor.format);
  }
}

std::vector<LayerTensor> read_tensors(RecordReader& in) {
  std::vector<LayerTensor> tensors;
  for (uint64_t left = in.count(); left > 0; --left) {
    LayerTensor tensor;
    tensor.name = in.text();
    const uint64_t dtype = in.number();
    if (dtype > INT32_MAX) in.refuse();
    tensor.dtype = static_cast<tensor::DType>(dtype);
    tensor.dims = in.shape();
    tensor.format = in.text();
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

void write(RecordWriter& out, const LayerRecord& layer) {
  out.text(layer.name).text(layer.op).text(layer.tactic).texts(layer.origins);
  write(out, layer.inputs);
  write(out, layer.outputs);
}

LayerRecord read_layer(RecordReader& in) {
  LayerRecord layer;
  layer.name = in.text();
  layer.op = in.text();
  layer.tactic = in.text();
  layer.origins = in.texts();
  layer.inputs = read_tensors(in);
  layer.outputs = read_tensors(in);
  return layer;
}

void write(RecordWriter& out, const PlannedModel& planned) {
  out.number(planned.shapes.size());
  for (const auto& [input, shape] : planned.shapes) out.text(input).shape(shape);
  write(out, planned.weights);
  out.number(planned.values.size());
  for (const ValuePlace& value : planned.values) out.text(value.name).text(value.now).text(value.layer);
  out.number(planned.layers.size());
  for (const LayerRecord& layer : planned.layers) write(out, layer);
  out.number(planned.memory_bytes);
}

PlannedModel read_planned(RecordReader& in) {
  PlannedModel planned;
  for (uint64_t left = in.count(); left > 0; --left) {
    std::string input = in.text();
    planned.shapes.insert_or_assign(std::move(input), in.shape());
  }
  planned.weights = read_weights(in);
  for (uint64_t left = in.count(); left > 0; --left) {
    ValuePlace value;
    value.name = in.text();
    value.now = in.text();
    value.layer = in.text();
    planned.values.push_back(std::move(value));
  }
  for (uint64_t left = in.count(); left > 0; --left) planned.layers.push_back(read_layer(in));
  planned.memory_bytes = in.number();
  return planned;
}

PackedForm read_packed(RecordReader& in) {
  PackedForm packed;
  packed.weights = in.number();
  packed.form = in.text();
  packed.section = in.number();
  return packed;
}

CompiledCode read_code(RecordReader& in) {
  CompiledCode code;
  code.device = in.text();
  code.name = in.text();
  code.seal = in.text();
  code.section = in.number();
  return code;
}

void write(RecordWriter& out, const Fingerprint& fingerprint) {
  out.text(fingerprint.device).number(fingerprint.threads).number(fingerprint.parts.size());
  for (const Fingerprint::Part& part : fingerprint.parts) out.text(part.name).text(part.value);
}

Fingerprint read_fingerprint(RecordReader& in) {
  Fingerprint fingerprint{.device = in.text()};
  const uint64_t threads = in.number();
  if (threads > UINT32_MAX) in.refuse();
  fingerprint.threads = static_cast<unsigned>(threads);
  for (uint64_t left = in.count(); left > 0; --left) {
    std::string name = in.text();
    fingerprint.parts.push_back({std::move(name), in.text()});
  }
  return fingerprint;
}

}  // namespace

std::vector<std::byte> write_manifest(const Manifest& manifest) {
  RecordWriter out;
  out.text(ASSAY_VERSION).number(manifest.devices.size());
  for (const Fingerprint& device : manifest.devices) write(out, device);
  out.text(manifest.source).number(manifest.source_checksum);
  out.number(manifest.is_stripped ? 1 : 0);
  out.number(manifest.is_strict ? 1 : 0);
  write(out, manifest.precision);
  out.number(manifest.most_workspace_bytes).texts(manifest.families);
  out.texts(manifest.excluded).number(manifest.excluded_of.size());
  for (const auto& [layer, tactics] : manifest.excluded_of) out.text(layer).texts(tactics);
  write(out, manifest.signature.inputs);
  write(out, manifest.signature.outputs);
  out.number(manifest.profiles.size());
  for (const Profile& profile : manifest.profiles) write(out, profile);
  write(out, manifest.source_weights);
  out.number(manifest.planned.size());
  for (const PlannedModel& planned : manifest.planned) write(out, planned);
  out.number(manifest.packed.size());
  for (const PackedForm& packed : manifest.packed) {
    out.number(packed.weights).text(packed.form).number(packed.section);
  }
  out.number(manifest.code.size());
  for (const CompiledCode& code : manifest.code) {
    out.text(code.device).text(code.name).text(code.seal).number(code.section);
  }
  return out.take();
}

Manifest read_manifest(Bytes bytes) {
  RecordReader in(bytes);
  Manifest manifest;
  const std::string version = in.text();
  if (version != ASSAY_VERSION) {
    fail(ErrorCode::parse, "the plan was built by version {}, this is {}: build it again", printable(version),
         ASSAY_VERSION);
  }
  for (uint64_t left = in.count(); left > 0; --left) manifest.devices.push_back(read_fingerprint(in));
  manifest.source = in.text();
  manifest.source_checksum = in.number();
  manifest.is_stripped = in.truth();
  manifest.is_strict = in.truth();
  manifest.precision = read_precision(in);
  manifest.most_workspace_bytes = in.number();
  manifest.families = in.texts();
  manifest.excluded = in.texts();
  for (uint64_t left = in.count(); left > 0; --left) {
    std::string layer = in.text();
    manifest.excluded_of.insert_or_assign(std::move(layer), in.texts());
  }
  manifest.signature.inputs = read_ports(in);
  manifest.signature.outputs = read_ports(in);
  for (uint64_t left = in.count(); left > 0; --left) manifest.profiles.push_back(read_profile(in));
  if (manifest.profiles.empty()) in.refuse();
  manifest.source_weights = read_weights(in);
  for (uint64_t left = in.count(); left > 0; --left) manifest.planned.push_back(read_planned(in));
  for (uint64_t left = in.count(); left > 0; --left) manifest.packed.push_back(read_packed(in));
  for (uint64_t left = in.count(); left > 0; --left) manifest.code.push_back(read_code(in));
  in.finish();
  return manifest;
}

}  // namespace assay::engine
