#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/settings.h"
#include "exec/signature.h"
#include "tensor/named.h"

namespace assay::exec {

using Feed = tensor::NamedDatum;

// Receives the requested values of a run; `value` is borrowed for the call.
class TensorSink {
 public:
  virtual ~TensorSink() = default;
  virtual void accept(std::string_view name, const tensor::Datum& value) = 0;
};

class FolderNames;

// Places in which to look for libraries that are opened at run time, besides the environment's variables and the
// system.
struct LibrarySearch {
  std::string python;  // the user's interpreter; empty: the first python3 on PATH
  std::shared_ptr<FolderNames>
      folders;  // contents of folders that searches have read so far; empty: each reads folders anew
};

struct SessionOptions {
  unsigned threads = 0;             // of its executions; 0: those of the calling thread's pool
  bool profiles = false;            // executions are asked for the times of layers
  uint64_t max_memory_bytes = 0;    // 0: no limit
  uint64_t max_steps = 0;           // of the reference: runs of bodies and calls of functions; 0: its own limit
  uint64_t max_work = 0;            // of the reference: elements and multiply-accumulates; 0: its own limit
  std::vector<std::string> values;  // of the main graph, that runs may ask for besides its outputs
  std::filesystem::path path;       // of a file that holds this very model; empty: it was edited, or has none
  LibrarySearch search;
  Settings settings;
  // Called while a backend prepares the model, with how many of its layers are planned; may throw to end that.
  std::function<void(uint64_t done, uint64_t total)> on_layer = {};
};

struct ExecutionOptions {
  unsigned threads = 0;          // 0: as the session; otherwise threads of its own, where the backend can give them
  bool profiles = false;         // measure each layer
  bool times_device = false;     // tell what a device besides the processor takes for transfers and for computing
  bool times_additions = false;  // with `profiles`: of layers on such a device, tell what each adds to a run
};

// Seconds of a run by the clock of a device: until its first kernel begins, until its last one ends, and until results
// are where they are wanted.
struct DeviceSeconds {
  double upload = 0;
  double compute = 0;
  double download = 0;
};

struct LayerSeconds {
  std::string layer;
  std::string op;
  double seconds = 0;
  std::vector<std::string> origins = {};  // nodes of the model, by their names or first results
  uint64_t bytes = 0;                     // that it reads and writes; 0: not known
  std::string provider = {};              // part of the library that computes it; empty: not told
};

// A node of the graph that a library runs, and the provider that computes it.
struct AssignedNode {
  std::string provider;  // `CPUExecutionProvider`
  std::string node;      // may be empty
  std::string op;        // `com.microsoft::FusedConv`
};

// An address in the memory of a device, by the number among its kind.
struct DevicePlace {
  uint64_t address = 0;
  int device = 0;
};

// Memory of the caller for an output.
struct OutputBuffer {
  std::string name;
  tensor::DType dtype = tensor::DType::undefined;
  tensor::Shape shape;
  std::span<std::byte> bytes;
  tensor::StoragePtr on_device = nullptr;  // set: memory that Session::lent() gave, in the place of `bytes`
};

// Feeds that an execution has copied to its device.
class HeldFeeds {
 public:
  virtual ~HeldFeeds() = default;
};

// One context of a session: its buffers and its last run. For one thread at a time; several executions of a session
// may run at once.
class Execution {
 public:
  virtual ~Execution() = default;
  // Runs once. `values` are names of values of the main graph, outputs or named in SessionOptions::values, that are not
  // absent; each is given to the sink once, in any order. `feeds` are complete and fit (check_feeds).
  virtual void run(std::span<const Feed> feeds, std::span<const std::string> values, TensorSink& sink) = 0;
  // Seconds of the last run: computing alone, without handing over its inputs and values.
  virtual double seconds() const = 0;
  // Times of the last run, if the options ask for them. Nullopt: the processor did all work.
  virtual std::optional<DeviceSeconds> device_seconds() const { return {}; }
  // Layers of the last run in the order of execution, if the options ask for them; empty: the backend cannot tell.
  virtual std::vector<LayerSeconds> profile() const { return {}; }
  // True if the execution tells them run by run; otherwise it is asked once, after the last run, and tells means of
  // all.
  virtual bool profiles_each_run() const { return true; }
  // True if it can tell, and the options ask for, what layers add to a run.
  virtual bool times_additions() const { return false; }
  // Runs that follow write these outputs, where they are requested, into memory of the caller, which the tensors given
  // to the sink then share. A run fails if one has another type or shape.
  virtual void bind(std::vector<OutputBuffer> outputs) = 0;
  // Values of runs from now on are given to the sink in memory of the session's device where their sizes are known
  // before (Session::place_of).
  virtual void keep_on_device(bool /*keeps*/) {}
  // Copies feeds to the execution's device, and leaves these outputs of runs with them where they are made. Null: that
  // device is the host. Error (unsupported): an output is no tensor, or its size differs from that of feeds held
  // before.
  virtual std::unique_ptr<HeldFeeds> hold(std::span<const Feed> /*feeds*/, std::span<const std::string> /*outputs*/) {
    return nullptr;
  }
  virtual void run(const HeldFeeds& /*feeds*/, std::span<const std::string> /*outputs*/) {}
  // Runs that follow do their work in the order of a stream of the caller, by the handle that the driver of the
  // session's device gave it, and return before it is done where all they read and write lies on that device. Nullopt:
  // they are done when they return.
  virtual void follow(std::optional<uint64_t> /*stream*/) {}
};

// The answer to whether a session has a value of the source model.
struct TapAnswer {
  enum class Kind : uint8_t { given, recomputed, absent };
  Kind kind = Kind::given;
  std::string layer;   // recomputed or absent: the layer that it became part of
  std::string reason;  // absent: why there is no such value
};

// A layer that the device of a session leaves to the processor.
struct LayerElsewhere {
  std::string tactic;                // that computes it there
  std::vector<std::string> origins;  // nodes of the model, by their names or first results
};

// A model made ready to run. Its executions, which it must outlive, may be made and run from several threads.
class Session {
 public:
  virtual ~Session() = default;
  virtual const Signature& signature() const = 0;
  // About an output or one of SessionOptions::values.
  virtual TapAnswer answer(std::string_view /*value*/) const { return {}; }
  // Memory of the caller on the device of the session, for feeds and outputs, by its address, which the caller vouches
  // for. Null: the address is one of the host. Error (unsupported): of another device.
  virtual tensor::StoragePtr lent(uint64_t /*address*/, uint64_t /*size_bytes*/) const { return nullptr; }
  // The place of a value in memory of the session's device; nullopt: it lies on the host.
  virtual std::optional<DevicePlace> place_of(const tensor::Tensor& /*value*/) const { return {}; }
  virtual std::unique_ptr<Execution> make_execution(const ExecutionOptions& options) const = 0;
  // In the order of execution; nullopt: not known before the shapes of a run.
  virtual std::optional<std::vector<LayerElsewhere>> elsewhere() const { return std::vector<LayerElsewhere>(); }
  // A line for users about how it was made; may be empty.
  virtual std::string description() const { return {}; }
  // The nodes with their providers, where settings ask for them and the library can tell.
  virtual std::vector<AssignedNode> assignment() const { return {}; }
};

}  // namespace assay::exec
