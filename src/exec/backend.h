#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"
#include "base/registered.h"
#include "ir/model.h"
#include "tensor/named.h"

namespace assay::exec {

using Feed = tensor::NamedDatum;

// Receives the requested values of a run; `value` is borrowed for the call.
class TensorSink {
 public:
  virtual ~TensorSink() = default;
  virtual void accept(std::string_view name, const tensor::Datum& value) = 0;
};

// Where to look for libraries that are opened at run time, besides the environment's variables and the system.
struct LibrarySearch {
  std::string python;  // the user's interpreter that is wished; empty: the first python3 on PATH
};

struct SessionOptions {
  uint64_t max_memory_bytes = 0;    // 0: no limit
  uint64_t max_steps = 0;           // of the reference: runs of bodies and calls of functions; 0: its own limit
  uint64_t max_work = 0;            // of the reference: elements and multiply-accumulates; 0: its own limit
  std::vector<std::string> values;  // of the main graph, that runs may ask for besides its outputs
  std::filesystem::path path;       // of a file that holds this very model; empty: it was edited, or has none
  LibrarySearch search;
  std::vector<std::string> providers;  // of the backend, in order of preference; empty: its own choice
  std::string optimization_level;      // as the backend names it; empty: its own choice
};

// A model made ready to run. Model and session may be used from one thread at a time.
class Session {
 public:
  virtual ~Session() = default;
  // Runs once. `values` are names of values of the main graph, outputs or named in SessionOptions::values; each is
  // given to the sink once, in any order. `feeds` are complete and fit (check_feeds).
  virtual void run(std::span<const Feed> feeds, std::span<const std::string> values, TensorSink& sink) = 0;
  // A line for users about how it was made; may be empty.
  virtual std::string description() const { return {}; }
};

// A library found by its files; it was not opened.
struct FoundLibrary {
  std::filesystem::path path;      // empty: not found
  std::string version;             // by the metadata of its Python package; empty: not known
  std::vector<std::string> tried;  // places that were looked at, with what was there
};

struct Probe {
  bool usable = false;
  std::string version;             // or, if it is not usable, why
  std::string path;                // of its library; empty: built in, or not found
  std::vector<std::string> tried;  // places that were looked at, with what was there
  std::vector<std::string> providers;
};

// Why a backend cannot run a node; an invalid node: the model as a whole.
struct Refusal {
  ir::NodeId node;
  std::string reason;
};

// A way to run models. A backend reports what it cannot do by Error: unsupported, limit or backend.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Opens its library, if it has one.
  virtual Probe probe(const LibrarySearch& search) const = 0;
  // Its library, found without opening it; empty if built in.
  virtual FoundLibrary library(const LibrarySearch&) const { return {}; }
  // Nodes that it cannot run, including those of bodies and functions; a library that stops at the first fault returns
  // only the nodes of that fault.
  virtual std::vector<Refusal> refusals(const ir::Model& model, const LibrarySearch& search) const = 0;
  // The nodes that an error of prepare() names; empty if none.
  virtual std::vector<ir::NodeId> blamed(const ir::Model&, const Error&) const { return {}; }
  // The model must outlive the session and not be edited meanwhile. Messages for the user go into `findings`.
  virtual std::unique_ptr<Session> prepare(const ir::Model& model, const SessionOptions& options,
                                           Diagnostics& findings) const = 0;
};

using BackendPtr = std::unique_ptr<Backend>;

// The nodes refused when one backend prepares the model; `interpreter` understands its error messages.
std::vector<Refusal> refusals_of_preparing(const Backend& backend, const Backend& interpreter, const ir::Model& model,
                                           const LibrarySearch& search);
using Backends = std::vector<BackendPtr>;

// Every src/backends/<folder>/backend.cpp defines `Backends backends_<folder>_backend()`.
std::span<const Registered<Backends>> registered_backends();
// The backend of that name, usable here or not. Error (usage) if this build has none.
BackendPtr make_backend(std::string_view name);
// The same, Error (backend) if it cannot be used here.
BackendPtr find_backend(std::string_view name, const LibrarySearch& search = {});

}  // namespace assay::exec
