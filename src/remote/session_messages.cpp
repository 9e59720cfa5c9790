#include "remote/session_messages.h"

#include <limits>

#include "base/error.h"

namespace assay::remote {

constexpr int kDeepestType = 64;

void expect_kind(const ReceivedMessage& message, MessageKind kind) {
  if (message.kind == kind) return;
  fail(ErrorCode::backend, "another process sent a message of kind {}, expected {}",
       static_cast<unsigned>(message.kind), static_cast<unsigned>(kind));
}

namespace {

void write_settings(MessageWriter& writer, const exec::Settings& settings) {
  writer.number(settings.all().size());
  for (const auto& [name, values] : settings.all()) writer.text(name).texts(values);
}

exec::Settings read_settings(MessageReader& reader) {
  exec::Settings settings;
  for (uint64_t left = reader.number(); left > 0; --left) {
    std::string name = reader.text();
    settings.set(std::move(name), reader.texts());
  }
  return settings;
}

void write_type(MessageWriter& writer, const exec::PortType& type) {
  writer.number(static_cast<uint64_t>(type.kind)).number(static_cast<uint64_t>(type.dtype));
  writer.number(type.ranked ? 1 : 0).number(type.dims.size());
  for (const exec::PortDim& dim : type.dims) {
    writer.number(dim.size ? 1 : 0).number(static_cast<uint64_t>(dim.size.value_or(0))).text(dim.text);
  }
  writer.number(type.element.size());
  for (const exec::PortType& element : type.element) write_type(writer, element);
}

// A number that another process sent for an enumerator up to `last`.
template <typename Enum>
Enum read_enum(MessageReader& reader, Enum last) {
  const uint64_t number = reader.number();
  if (number > static_cast<uint64_t>(last)) fail(ErrorCode::backend, "another process sent an unknown word {}", number);
  return static_cast<Enum>(number);
}

exec::PortType read_type(MessageReader& reader, int depth) {
  if (depth > kDeepestType) fail(ErrorCode::backend, "another process sent a type nested deeper than {}", kDeepestType);
  exec::PortType type;
  type.kind = read_enum(reader, ir::TypeKind::opaque);
  type.dtype = static_cast<tensor::DType>(reader.number());
  type.ranked = reader.number() != 0;
  for (uint64_t left = reader.number(); left > 0; --left) {
    exec::PortDim dim;
    const bool is_known = reader.number() != 0;
    const uint64_t size = reader.number();
    if (is_known) dim.size = static_cast<int64_t>(size);
    dim.text = reader.text();
    type.dims.push_back(std::move(dim));
  }
  for (uint64_t left = reader.number(); left > 0; --left) type.element.push_back(read_type(reader, depth + 1));
  return type;
}

void write_ports(MessageWriter& writer, const std::vector<exec::Port>& ports) {
  writer.number(ports.size());
  for (const exec::Port& port : ports) {
    writer.text(port.name).number(port.has_default ? 1 : 0).number(port.is_shape ? 1 : 0).number(port.type ? 1 : 0);
    if (port.type) write_type(writer, *port.type);
  }
}

std::vector<exec::Port> read_ports(MessageReader& reader) {
  std::vector<exec::Port> ports;
  for (uint64_t left = reader.number(); left > 0; --left) {
    exec::Port port;
    port.name = reader.text();
    port.has_default = reader.number() != 0;
    port.is_shape = reader.number() != 0;
    if (reader.number() != 0) port.type = read_type(reader, 0);
    ports.push_back(std::move(port));
  }
  return ports;
}

// The code of every finding becomes `worker`, because codes are literals.
void read_findings(MessageReader& reader, Diagnostics& findings) {
  for (uint64_t left = reader.number(); left > 0; --left) {
    const uint64_t severity = reader.number();
    Diagnostic finding{.severity = Severity::error, .code = "worker", .node = reader.text(), .message = reader.text()};
    finding.remedy = reader.text();
    if (severity <= static_cast<uint64_t>(Severity::error)) finding.severity = static_cast<Severity>(severity);
    findings.add(std::move(finding));
  }
}

std::vector<ListedTensor> read_listed_tensors(MessageReader& reader) {
  std::vector<ListedTensor> tensors;
  for (exec::Port& port : read_ports(reader)) tensors.push_back({std::move(port), {}});
  for (ListedTensor& tensor : tensors) tensor.format = reader.text();
  return tensors;
}

}  // namespace

Message write_prepare(const PrepareRequest& request, MessageKind kind) {
  const exec::SessionOptions& options = request.options;
  MessageWriter writer(kind);
  writer.text(request.backend)
      .number(request.threads)
      .number(options.max_memory_bytes)
      .number(options.max_steps)
      .number(options.max_work)
      .texts(options.values)
      .text(options.path.native())
      .text(options.search.python)
      .number(options.threads)
      .number(request.is_plan ? 1 : 0);
  write_settings(writer, options.settings);
  return writer.datum(request.model_bytes).finish();
}

PrepareRequest read_prepare(const ReceivedMessage& message) {
  MessageReader reader(message);
  PrepareRequest request;
  request.backend = reader.text();
  request.threads = static_cast<unsigned>(reader.number());
  request.options.max_memory_bytes = reader.number();
  request.options.max_steps = reader.number();
  request.options.max_work = reader.number();
  request.options.values = reader.texts();
  request.options.path = reader.text();
  request.options.search.python = reader.text();
  request.options.threads = static_cast<unsigned>(reader.number());
  request.is_plan = reader.number() != 0;
  request.options.settings = read_settings(reader);
  request.model_bytes = reader.datum();
  reader.finish();
  return request;
}

Message write_probe(const ProbeRequest& request) {
  return MessageWriter(MessageKind::probe).text(request.backend).text(request.search.python).finish();
}

ProbeRequest read_probe(const ReceivedMessage& message) {
  MessageReader reader(message);
  ProbeRequest request;
  request.backend = reader.text();
  request.search.python = reader.text();
  reader.finish();
  return request;
}

Message write_probed(const exec::Probe& probe) {
  return MessageWriter(MessageKind::probed)
      .number(probe.usable ? 1 : 0)
      .text(probe.version)
      .text(probe.path)
      .texts(probe.tried)
      .texts(probe.providers)
      .finish();
}

exec::Probe read_probed(const ReceivedMessage& message) {
  expect_kind(message, MessageKind::probed);
  MessageReader reader(message);
  exec::Probe probe;
  probe.usable = reader.number() != 0;
  probe.version = reader.text();
  probe.path = reader.text();
  probe.tried = reader.texts();
  probe.providers = reader.texts();
  reader.finish();
  return probe;
}

Message write_prepared(const SessionFacts& facts, const Diagnostics& findings) {
  MessageWriter writer(MessageKind::prepared);
  writer.text(facts.description);
  write_ports(writer, facts.signature.inputs);
  write_ports(writer, facts.signature.outputs);
  writer.number(facts.answers.size());
  for (const auto& [value, answer] : facts.answers) {
    writer.text(value).number(static_cast<uint64_t>(answer.kind)).text(answer.layer).text(answer.reason);
  }
  writer.number(facts.assignment.size());
  for (const exec::AssignedNode& node : facts.assignment) writer.text(node.provider).text(node.node).text(node.op);
  writer.number(findings.all().size());
  for (const Diagnostic& finding : findings.all()) {
    writer.number(static_cast<uint64_t>(finding.severity))
        .text(finding.node)
        .text(finding.message)
        .text(finding.remedy);
  }
  return writer.finish();
}

SessionFacts read_prepared(const ReceivedMessage& message, Diagnostics& findings) {
  expect_kind(message, MessageKind::prepared);
  MessageReader reader(message);
  SessionFacts facts;
  facts.description = reader.text();
  facts.signature.inputs = read_ports(reader);
  facts.signature.outputs = read_ports(reader);
  for (uint64_t left = reader.number(); left > 0; --left) {
    std::string value = reader.text();
    exec::TapAnswer answer;
    answer.kind = read_enum(reader, exec::TapAnswer::Kind::absent);
    answer.layer = reader.text();
    answer.reason = reader.text();
    facts.answers.emplace(std::move(value), std::move(answer));
  }
  for (uint64_t left = reader.number(); left > 0; --left) {
    exec::AssignedNode& node = facts.assignment.emplace_back();
    node.provider = reader.text();
    node.node = reader.text();
    node.op = reader.text();
  }
  read_findings(reader, findings);
  reader.finish();
  return facts;
}

Listing read_listed(const ReceivedMessage& message, Diagnostics& findings) {
  expect_kind(message, MessageKind::listed);
  MessageReader reader(message);
  Listing listing;
  listing.library = reader.text();
  listing.name = reader.text();
  listing.signature.inputs = read_ports(reader);
  listing.signature.outputs = read_ports(reader);
  listing.memory_bytes = reader.number();
  for (uint64_t left = reader.number(); left > 0; --left) {
    ListedLayer layer;
    layer.name = reader.text();
    layer.op = reader.text();
    layer.tactic = reader.text();
    layer.origins = reader.texts();
    layer.inputs = read_listed_tensors(reader);
    layer.outputs = read_listed_tensors(reader);
    listing.layers.push_back(std::move(layer));
  }
  read_findings(reader, findings);
  reader.finish();
  return listing;
}

std::vector<RefusedPlace> read_refused(const ReceivedMessage& message) {
  expect_kind(message, MessageKind::refused);
  MessageReader reader(message);
  std::vector<RefusedPlace> refused;
  for (uint64_t left = reader.number(); left > 0; --left) {
    RefusedPlace& place = refused.emplace_back();
    const uint64_t number = reader.number();
    if (number != std::numeric_limits<uint64_t>::max()) place.place = number;
    place.reason = reader.text();
  }
  reader.finish();
  return refused;
}

Message write_make_execution(const exec::ExecutionOptions& options) {
  return MessageWriter(MessageKind::make_execution).number(options.threads).number(options.profiles ? 1 : 0).finish();
}

exec::ExecutionOptions read_make_execution(const ReceivedMessage& message) {
  MessageReader reader(message);
  exec::ExecutionOptions options;
  options.threads = static_cast<unsigned>(reader.number());
  options.profiles = reader.number() != 0;
  reader.finish();
  return options;
}

Message write_ran(const RunFacts& facts) {
  MessageWriter writer(MessageKind::ran);
  writer.real(facts.seconds).number(facts.profile.size());
  for (const exec::LayerSeconds& layer : facts.profile) {
    writer.text(layer.layer).text(layer.op).real(layer.seconds).text(layer.provider);
  }
  return writer.finish();
}

RunFacts read_ran(const ReceivedMessage& message) {
  expect_kind(message, MessageKind::ran);
  MessageReader reader(message);
  RunFacts facts;
  facts.seconds = reader.real();
  for (uint64_t left = reader.number(); left > 0; --left) {
    exec::LayerSeconds layer;
    layer.layer = reader.text();
    layer.op = reader.text();
    layer.seconds = reader.real();
    layer.provider = reader.text();
    facts.profile.push_back(std::move(layer));
  }
  reader.finish();
  return facts;
}

Message write_run(uint64_t execution, std::span<const exec::Feed> feeds, std::span<const std::string> values) {
  return MessageWriter(MessageKind::run).number(execution).data(feeds).texts(values).finish();
}

RunMessage read_run(const ReceivedMessage& message) {
  MessageReader reader(message);
  RunMessage request;
  request.execution = reader.number();
  request.feeds = reader.data();
  request.values = reader.texts();
  reader.finish();
  return request;
}

Message write_value(std::string_view name, const tensor::Datum& value) {
  return MessageWriter(MessageKind::value).text(name).datum(value).finish();
}

tensor::NamedDatum read_value(const ReceivedMessage& message) {
  MessageReader reader(message);
  tensor::NamedDatum value;
  value.name = reader.text();
  value.value = reader.datum();
  reader.finish();
  return value;
}

}  // namespace assay::remote
