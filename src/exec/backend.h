#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/registered.h"
#include "ir/model.h"
#include "tensor/datum.h"

namespace assay::exec {

struct Feed {
  std::string name;
  tensor::Datum value;
};

// Takes the values that a run was asked for; `value` is borrowed for the call.
class TensorSink {
 public:
  virtual ~TensorSink() = default;
  virtual void accept(std::string_view name, const tensor::Datum& value) = 0;
};

struct SessionOptions {
  uint64_t max_memory_bytes = 0;  // 0: no limit
  uint64_t max_steps = 0;         // iterations of one Loop; 0: no limit
};

// A model made ready to run. Model and session may be used from one thread at a time.
class Session {
 public:
  virtual ~Session() = default;
  // Runs once. `values` are names of values of the main graph, outputs or not; each is given to the sink once.
  virtual void run(std::span<const Feed> feeds, std::span<const std::string> values, TensorSink& sink) = 0;
};

struct Probe {
  bool usable = false;
  std::string version;  // or, if it is not usable, why
};

// Why a backend cannot run a node.
struct Refusal {
  ir::NodeId node;
  std::string reason;
};

// A way to run models. What a backend cannot do it says with Error: unsupported, limit or backend.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual Probe probe() const = 0;
  // The nodes that it cannot run, those of bodies and functions included.
  virtual std::vector<Refusal> refusals(const ir::Model& model) const = 0;
  // The model must outlive the session and not be edited meanwhile.
  virtual std::unique_ptr<Session> prepare(const ir::Model& model, const SessionOptions& options) const = 0;
};

using BackendPtr = std::unique_ptr<Backend>;
using Backends = std::vector<BackendPtr>;

// Every src/backends/<folder>/backend.cpp defines `Backends backends_<folder>_backend()`.
std::span<const Registered<Backends>> registered_backends();
// The backend of that name. Error (usage) if this build has none, or (backend) if it cannot be used here.
BackendPtr find_backend(std::string_view name);

}  // namespace assay::exec
