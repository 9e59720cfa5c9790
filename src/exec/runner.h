#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "exec/backend.h"

namespace assay::exec {

// One side of a comparison: a backend with a model, or saved results.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual const std::string& name() const = 0;  // `onnxrt-runner-N0-11/21/26-07:40:57`
  // Saved results run nothing: they have no inputs and their own iterations.
  virtual bool is_live() const = 0;
  virtual void open(Diagnostics& findings) = 0;
  virtual void close() = 0;
  // The signature of a live runner that is open.
  virtual const Signature& signature() const = 0;
  virtual TapAnswer answer(std::string_view /*value*/) const { return {}; }
  // A line about the session that was opened; may be empty.
  virtual std::string description() const { return {}; }
  // The nodes of that session with their providers (Session::assignment).
  virtual std::vector<AssignedNode> assignment() const { return {}; }
  // Gives values of one iteration to the sink: live runners the named ones, saved results all.
  // Returns the seconds of the run without the time spent in the sink, if known.
  virtual std::optional<double> run(uint64_t iteration, std::span<const Feed> feeds,
                                    std::span<const std::string> values, TensorSink& sink) = 0;
  // The number of iterations of saved runs; nullopt for live ones, which have as many as there are inputs.
  virtual std::optional<uint64_t> iterations() const = 0;
};

using RunnerPtr = std::unique_ptr<Runner>;

// A backend with a model, which must outlive the runner.
RunnerPtr backend_runner(std::string name, BackendPtr backend, const ir::Model& model, SessionOptions options);
// A backend with another form of the model whose values are asked for: values that it lacks are absent.
RunnerPtr converted_runner(std::string name, BackendPtr backend, const ir::Model& model, SessionOptions options);
// A backend with a plan that it built earlier.
RunnerPtr plan_runner(std::string name, BackendPtr backend, std::filesystem::path plan, SessionOptions options);
// A live runner that is made when it is opened, so that what cannot be made fails then.
RunnerPtr late_runner(std::string name, std::function<RunnerPtr()> make);

// One iteration of saved results.
struct SavedOutputs {
  tensor::NamedData outputs;
  std::optional<double> runtime_seconds;
};
RunnerPtr saved_runner(std::string name, std::vector<SavedOutputs> iterations);

}  // namespace assay::exec
