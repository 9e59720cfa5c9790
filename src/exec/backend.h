#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"
#include "base/registered.h"
#include "exec/session.h"
#include "exec/settings.h"
#include "ir/model.h"
#include "tensor/dtype.h"

namespace assay::exec {

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

// A device of this machine besides the processor, or what is missing for one.
struct DeviceProbe {
  std::string name = {};  // `NVIDIA H200`
  std::string kind;       // `cuda:0`
  uint64_t memory_bytes = 0;
  std::string capability = {};  // `9.0`
  std::string driver = {};      // `CUDA 13.0`
  std::string compiler = {};    // `NVRTC 13.0`
  std::string problem = {};     // empty: it can be used
};

// A reason why a backend cannot run a node; an invalid node: the model as a whole.
struct Refusal {
  ir::NodeId node;
  std::string reason;
  std::string remedy = {};  // the setting of a request that lifts it, as Error::remedy()
};

// Facts that callers ask before anything runs.
struct BackendTraits {
  bool is_reference = false;            // gives the values of ops::Interpreter
  bool has_plans = false;               // builds plans, and opens those that it has built
  bool builds_engines = false;          // of the settings about shapes, types and tactics that builders of engines have
  bool takes_quantized_copies = false;  // if 8-bit integers are wanted and the model has no quantizers
  bool widens_float16 = false;          // computes it in float32, unless settings say otherwise
};

// One setting, given or left out.
struct SettingChange {
  std::string name;
  std::optional<std::string> value;  // nullopt: left out

  void apply(Settings& settings) const;
};

// A way to run models. A backend reports what it cannot do by Error: unsupported, limit or backend.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view title() const { return name(); }  // `ONNX Runtime`
  virtual BackendTraits traits() const { return {}; }
  // Name of its side in a comparison, which also says the device: `engine-cuda`.
  virtual std::string side_name(const Settings&) const { return std::string(name()); }
  // Devices besides the processor that it can compute on, or why not.
  virtual std::vector<DeviceProbe> devices(const LibrarySearch&) const { return {}; }
  virtual std::vector<Setting> settings() const { return {}; }
  // The narrowest type in which it may compute in the place of the declared ones; nullopt: it keeps to those.
  virtual std::optional<tensor::DType> least_type(const Settings&) const { return {}; }
  // True if settings name libraries that are loaded into its process and may end it: its sessions want one of their
  // own.
  virtual bool loads_strangers(const Settings&) const { return false; }
  // Changes that bring it closer to what the model declares, each by itself.
  virtual std::vector<SettingChange> stricter_settings(const Settings&) const { return {}; }
  // Opens its library, if it has one.
  virtual Probe probe(const LibrarySearch& search) const = 0;
  // The backend's library, found without opening it; empty if built in.
  virtual FoundLibrary library(const LibrarySearch&) const { return {}; }
  // Nodes that it cannot run, including those of bodies and functions; a library that stops at the first fault returns
  // only the nodes of that fault.
  virtual std::vector<Refusal> refusals(const ir::Model& model, const LibrarySearch& search) const = 0;
  // The nodes that an error of prepare() names; empty if none.
  virtual std::vector<ir::NodeId> blamed(const ir::Model&, const Error&) const { return {}; }
  // The model must outlive the session and not be edited meanwhile. Messages for the user go into `findings`.
  virtual std::unique_ptr<Session> prepare(const ir::Model& model, const SessionOptions& options,
                                           Diagnostics& findings) const = 0;
  // Builds a plan of a model and saves it. Error (unsupported) by a backend that has none.
  virtual void build_plan(const ir::Model& model, const SessionOptions& options, const std::filesystem::path& plan,
                          Diagnostics& findings) const;
  // A plan that it built and saved earlier. Error (unsupported) by a backend that has none.
  virtual std::unique_ptr<Session> open_plan(const std::filesystem::path& plan, const SessionOptions& options,
                                             Diagnostics& findings) const;
};

using BackendPtr = std::unique_ptr<Backend>;

// The nodes refused when one backend prepares the model; `interpreter` understands its error messages.
std::vector<Refusal> refusals_of_preparing(const Backend& backend, const Backend& interpreter, const ir::Model& model,
                                           const LibrarySearch& search);
using Backends = std::vector<BackendPtr>;

// One of each that this build has.
Backends all_backends();
// Every src/backends/<folder>/backend.cpp defines `Backends backends_<folder>_backend()`.
std::span<const Registered<Backends>> registered_backends();
// The backend of that name, with settings if some are written behind it (BackendWords), usable here or not. Error
// (usage) if this build has none.
BackendPtr make_backend(std::string_view name);
// Returns the backend that builds plans.
BackendPtr plan_builder();
// The backend of that name. Error (backend) if it cannot be used here.
BackendPtr find_backend(std::string_view name, const LibrarySearch& search = {});

}  // namespace assay::exec
