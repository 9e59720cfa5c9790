#pragma once

#include "base/diagnostics.h"
#include "exec/backend.h"
#include "remote/message.h"

namespace assay::remote {

// What a worker process is told and answers about backends and sessions; each pair writes and reads the same parts.

struct PrepareRequest {
  std::string backend;
  unsigned threads = 0;
  exec::SessionOptions options;  // `path` is where the model is, unless it is here
  tensor::Datum model_bytes;     // uint8; none: there is a path
};
// Of kind `prepare` or `examine`.
Message write_prepare(const PrepareRequest& request, MessageKind kind = MessageKind::prepare);
PrepareRequest read_prepare(const ReceivedMessage& message);

struct ProbeRequest {
  std::string backend;
  exec::LibrarySearch search;
};
Message write_probe(const ProbeRequest& request);
ProbeRequest read_probe(const ReceivedMessage& message);
Message write_probed(const exec::Probe& probe);
exec::Probe read_probed(const ReceivedMessage& message);

Message write_prepared(const Diagnostics& findings);
// The code of every finding becomes `worker`, because codes are literals.
void read_prepared(const ReceivedMessage& message, Diagnostics& findings);

struct RunRequest {
  std::vector<exec::Feed> feeds;
  std::vector<std::string> values;
};
// Nodes go by id: both sides have imported the same bytes. One that is another node there counts as the whole model.
Message write_refused(const ir::Model& model, std::span<const exec::Refusal> refusals);
std::vector<exec::Refusal> read_refused(const ReceivedMessage& message, const ir::Model& model);

Message write_run(std::span<const exec::Feed> feeds, std::span<const std::string> values);
RunRequest read_run(const ReceivedMessage& message);

Message write_value(std::string_view name, const tensor::Datum& value);
tensor::NamedDatum read_value(const ReceivedMessage& message);

// Error (backend) if it is another kind of message.
void expect_kind(const ReceivedMessage& message, MessageKind kind);

}  // namespace assay::remote
