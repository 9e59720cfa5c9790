#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "exec/backend.h"
#include "remote/listing.h"
#include "remote/message.h"

namespace assay::remote {

// Requests to a worker process about backends and sessions, and its answers; each pair writes and reads the same parts.

struct PrepareRequest {
  std::string backend;
  unsigned threads = 0;
  exec::SessionOptions options;    // `path` is where the model is, unless it is here
  bool is_plan = false;            // at that path is a plan
  tensor::Datum model_bytes = {};  // uint8; none: there is a path
};
// `kind` is what the same parts ask for: prepare, list or refuse.
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

// Facts of a session.
struct SessionFacts {
  exec::Signature signature;
  std::string description;
  std::map<std::string, exec::TapAnswer, std::less<>> answers;  // answers other than `given`
  std::vector<exec::AssignedNode> assignment = {};
};
Message write_prepared(const SessionFacts& facts, const Diagnostics& findings);
// The code of every finding becomes `worker`, because codes are literals.
SessionFacts read_prepared(const ReceivedMessage& message, Diagnostics& findings);

Listing read_listed(const ReceivedMessage& message, Diagnostics& findings);

// A node of the main graph that a library refuses, and why; no place: the model as a whole.
struct RefusedPlace {
  std::optional<uint64_t> place;
  std::string reason;
};
std::vector<RefusedPlace> read_refused(const ReceivedMessage& message);

// Answered by `done`; executions are numbered from 0.
Message write_make_execution(const exec::ExecutionOptions& options);
exec::ExecutionOptions read_make_execution(const ReceivedMessage& message);

struct RunMessage {
  uint64_t execution = 0;
  std::vector<exec::Feed> feeds;
  std::vector<std::string> values;
};
Message write_run(uint64_t execution, std::span<const exec::Feed> feeds, std::span<const std::string> values);
RunMessage read_run(const ReceivedMessage& message);

Message write_value(std::string_view name, const tensor::Datum& value);
tensor::NamedDatum read_value(const ReceivedMessage& message);

// Facts of a run, after its values.
struct RunFacts {
  double seconds = 0;
  std::vector<exec::LayerSeconds> profile;
};
Message write_ran(const RunFacts& facts);
RunFacts read_ran(const ReceivedMessage& message);

// Error (backend) if it is another kind of message.
void expect_kind(const ReceivedMessage& message, MessageKind kind);

}  // namespace assay::remote
