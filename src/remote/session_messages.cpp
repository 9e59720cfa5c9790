#include "remote/session_messages.h"

#include "base/error.h"

namespace assay::remote {

void expect_kind(const ReceivedMessage& message, MessageKind kind) {
  if (message.kind == kind) return;
  fail(ErrorCode::backend, "another process sent a message of kind {}, expected {}",
       static_cast<unsigned>(message.kind), static_cast<unsigned>(kind));
}

Message write_prepare(const PrepareRequest& request) {
  const exec::SessionOptions& options = request.options;
  return MessageWriter(MessageKind::prepare)
      .text(request.backend)
      .number(request.threads)
      .number(options.max_memory_bytes)
      .number(options.max_steps)
      .number(options.max_work)
      .texts(options.values)
      .text(options.path.native())
      .text(options.search.python)
      .texts(options.providers)
      .text(options.optimization_level)
      .datum(request.model_bytes)
      .finish();
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
  request.options.providers = reader.texts();
  request.options.optimization_level = reader.text();
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

Message write_prepared(const Diagnostics& findings) {
  MessageWriter writer(MessageKind::prepared);
  writer.number(findings.all().size());
  for (const Diagnostic& finding : findings.all()) {
    writer.number(static_cast<uint64_t>(finding.severity))
        .text(finding.node)
        .text(finding.message)
        .text(finding.remedy);
  }
  return writer.finish();
}

void read_prepared(const ReceivedMessage& message, Diagnostics& findings) {
  expect_kind(message, MessageKind::prepared);
  MessageReader reader(message);
  for (uint64_t left = reader.number(); left > 0; --left) {
    const uint64_t severity = reader.number();
    Diagnostic finding{.severity = Severity::error, .code = "worker", .node = reader.text(), .message = reader.text()};
    finding.remedy = reader.text();
    if (severity <= static_cast<uint64_t>(Severity::error)) finding.severity = static_cast<Severity>(severity);
    findings.add(std::move(finding));
  }
  reader.finish();
}

Message write_run(std::span<const exec::Feed> feeds, std::span<const std::string> values) {
  return MessageWriter(MessageKind::run).data(feeds).texts(values).finish();
}

RunRequest read_run(const ReceivedMessage& message) {
  MessageReader reader(message);
  RunRequest request;
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
