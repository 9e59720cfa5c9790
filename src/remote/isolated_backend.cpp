#include "remote/isolated_backend.h"

#include <limits>
#include <mutex>

#include <dlfcn.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/paths.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "exec/bound_outputs.h"
#include "onnx/export.h"

namespace assay::remote {
namespace {

constexpr std::string_view kHosted = "tensorrt";  // by a process of the user's Python, whatever asks for it
constexpr uint64_t kHeadroomBytes = uint64_t{1} << 30;

std::unique_ptr<RemoteProcess> start_worker(const IsolationOptions& options, uint64_t max_memory_bytes) {
  const bool is_limited = max_memory_bytes > 0 && max_memory_bytes < std::numeric_limits<uint64_t>::max() / 2;
  const Launch launch = {.program = options.program.empty() ? worker_program() : options.program,
                         .arguments = {"--worker", "3"},
                         .max_data_bytes = is_limited ? max_memory_bytes + kHeadroomBytes : 0};
  RemoteProcessOptions process = {.label = "the process of " + options.backend,
                                  .timeout_seconds = options.timeout_seconds};
  return std::make_unique<RemoteProcess>(launch, std::span<const int>(), std::move(process));
}

bool is_built_in(std::string_view backend, const exec::LibrarySearch& search) {
  return exec::make_backend(backend)->library(search).tried.empty();
}

// A model on its way to a worker: as the path that the options say, as bytes, or, where those would be too many for one
// message, as files of its own.
class SentModel {
 public:
  SentModel(const ir::Model& model, const exec::SessionOptions& options) {
    if (!options.path.empty()) return;
    try {
      std::vector<std::byte> bytes = onnx::encode(model).bytes;
      const auto size = static_cast<int64_t>(bytes.size());
      bytes_ = tensor::Tensor(tensor::DType::uint8, {size}, tensor::make_owned(std::move(bytes)));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::limit) throw;
      folder_.emplace();
      onnx::save(model, file());
    }
  }

  void put_into(PrepareRequest& request) const {
    request.model_bytes = bytes_;
    if (folder_) request.options.path = file();
  }

  // The worker has its own; files stay, because it may read from them later.
  void forget_bytes() { bytes_ = {}; }

 private:
  std::filesystem::path file() const { return folder_->path() / "model.onnx"; }

  tensor::Datum bytes_;
  std::optional<TemporaryFolder> folder_;
};

// The worker of a session. Its executions take turns.
struct Worker {
  std::mutex mutex;
  std::unique_ptr<RemoteProcess> process;
  uint64_t executions = 0;
};

class IsolatedExecution final : public exec::Execution {
 public:
  IsolatedExecution(Worker& worker, const exec::Signature& signature, const exec::ExecutionOptions& options)
      : worker_(worker), signature_(signature) {
    const std::scoped_lock lock(worker_.mutex);
    expect_kind(worker_.process->ask(write_make_execution(options)), MessageKind::done);
    number_ = worker_.executions++;
  }

  void run(std::span<const exec::Feed> feeds, std::span<const std::string> values, exec::TensorSink& sink) override {
    const std::scoped_lock lock(worker_.mutex);
    worker_.process->send(write_run(number_, feeds, values));
    ReceivedMessage message = worker_.process->receive();
    for (; message.kind != MessageKind::ran; message = worker_.process->receive()) take(message, sink);
    facts_ = read_ran(message);
  }

  double seconds() const override { return facts_.seconds; }
  std::vector<exec::LayerSeconds> profile() const override { return facts_.profile; }
  void bind(std::vector<exec::OutputBuffer> outputs) override { bound_.bind(std::move(outputs), signature_); }

 private:
  // If the value is not wanted, the ones after it are still on their way: the worker is of no more use.
  void take(const ReceivedMessage& message, exec::TensorSink& sink) {
    try {
      expect_kind(message, MessageKind::value);
      const tensor::NamedDatum value = read_value(message);
      sink.accept(value.name, bound_.placed(value.name, value.value));
    } catch (...) {
      worker_.process->abandon("a value that it gave was not taken");
      throw;
    }
  }

  Worker& worker_;
  const exec::Signature& signature_;
  uint64_t number_ = 0;
  exec::BoundOutputs bound_;
  RunFacts facts_;
};

class IsolatedSession final : public exec::Session {
 public:
  IsolatedSession(std::unique_ptr<const SentModel> model, std::unique_ptr<RemoteProcess> process, SessionFacts facts)
      : model_(std::move(model)), facts_(std::move(facts)) {
    worker_.process = std::move(process);
  }

  const exec::Signature& signature() const override { return facts_.signature; }
  std::string description() const override { return facts_.description; }
  std::vector<exec::AssignedNode> assignment() const override { return facts_.assignment; }
  exec::TapAnswer answer(std::string_view value) const override {
    const auto found = facts_.answers.find(value);
    return found == facts_.answers.end() ? exec::TapAnswer() : found->second;
  }
  std::unique_ptr<exec::Execution> make_execution(const exec::ExecutionOptions& options) const override {
    return std::make_unique<IsolatedExecution>(worker_, facts_.signature, options);
  }

 private:
  std::unique_ptr<const SentModel> model_;
  SessionFacts facts_;
  mutable Worker worker_;
};

class IsolatedBackend final : public exec::Backend {
 public:
  explicit IsolatedBackend(IsolationOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return options_.backend; }
  exec::BackendTraits traits() const override { return backend()->traits(); }
  std::vector<exec::Setting> settings() const override { return backend()->settings(); }
  std::optional<tensor::DType> least_type(const exec::Settings& settings) const override {
    return backend()->least_type(settings);
  }
  bool loads_strangers(const exec::Settings& settings) const override { return backend()->loads_strangers(settings); }
  std::vector<exec::SettingChange> stricter_settings(const exec::Settings& settings) const override {
    return backend()->stricter_settings(settings);
  }

  exec::FoundLibrary library(const exec::LibrarySearch& search) const override { return backend()->library(search); }

  exec::Probe probe(const exec::LibrarySearch& search) const override {
    try {
      return read_probed(start_worker(options_, 0)->ask(write_probe({options_.backend, search})));
    } catch (const Error& error) {
      exec::Probe probe;
      probe.version = error.line();
      return probe;
    }
  }

  // Refusals of a backend that is built in are asked for here; a library is tried in the worker.
  std::vector<exec::Refusal> refusals(const ir::Model& model, const exec::LibrarySearch& search) const override {
    if (is_built_in(options_.backend, search)) return backend()->refusals(model, search);
    return exec::refusals_of_preparing(*this, *backend(), model, search);
  }

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics& findings) const override {
    return session(&model, {.backend = options_.backend, .threads = thread_count(), .options = options}, findings);
  }

  std::unique_ptr<exec::Session> open_plan(const std::filesystem::path& plan, const exec::SessionOptions& options,
                                           Diagnostics& findings) const override {
    PrepareRequest request = {
        .backend = options_.backend, .threads = thread_count(), .options = options, .is_plan = true};
    request.options.path = absolute_path(plan);
    return session(nullptr, request, findings);
  }

 private:
  // Backend of this process.
  exec::BackendPtr backend() const { return exec::make_backend(options_.backend); }
  std::unique_ptr<exec::Session> session(const ir::Model* model, const PrepareRequest& request,
                                         Diagnostics& findings) const {
    return worker_session(start_worker(options_, request.options.max_memory_bytes), model, request, findings);
  }

  IsolationOptions options_;
};

}  // namespace

namespace {

// The answer to a request about a model, or about none where the options name a plan's path.
ReceivedMessage answer_about(RemoteProcess& worker, const ir::Model* model, const PrepareRequest& request,
                             MessageKind kind) {
  PrepareRequest sent = request;
  if (model == nullptr) return worker.ask(write_prepare(sent, kind));
  const SentModel kept(*model, request.options);
  kept.put_into(sent);
  return worker.ask(write_prepare(sent, kind));
}

}  // namespace

Listing worker_listing(RemoteProcess& worker, const ir::Model* model, const PrepareRequest& request,
                       Diagnostics& findings) {
  return read_listed(answer_about(worker, model, request, MessageKind::list), findings);
}

std::vector<RefusedPlace> worker_refusals(RemoteProcess& worker, const ir::Model& model,
                                          const PrepareRequest& request) {
  return read_refused(answer_about(worker, &model, request, MessageKind::refuse));
}

std::unique_ptr<exec::Session> worker_session(std::unique_ptr<RemoteProcess> worker, const ir::Model* model,
                                              const PrepareRequest& request, Diagnostics& findings) {
  PrepareRequest sent = request;
  std::unique_ptr<SentModel> kept;
  if (model != nullptr) {
    kept = std::make_unique<SentModel>(*model, request.options);
    kept->put_into(sent);
  }
  SessionFacts facts = read_prepared(worker->ask(write_prepare(sent)), findings);
  if (kept) kept->forget_bytes();
  return std::make_unique<IsolatedSession>(std::move(kept), std::move(worker), std::move(facts));
}

exec::BackendPtr isolated_backend(IsolationOptions options) {
  return std::make_unique<IsolatedBackend>(std::move(options));
}

std::filesystem::path worker_program() {
  Dl_info info = {};
  const bool is_known = dladdr(reinterpret_cast<const void*>(&worker_program), &info) != 0 && info.dli_fname != nullptr;
  return worker_program_of(is_known ? absolute_path(info.dli_fname) : std::filesystem::path());
}

// Never the program that runs: a stranger's that has loaded the library would start itself, and again.
std::filesystem::path worker_program_of(const std::filesystem::path& library) {
  // Side by side, as in a Python package; or beside `lib`, or what it has below it: lib/x86_64-linux-gnu.
  const std::filesystem::path folder = library.lexically_normal().parent_path();
  for (const char* const place : {"assay", "../bin/assay", "../../bin/assay"}) {
    const std::filesystem::path program = (folder / place).lexically_normal();
    if (!library.empty() && is_file(program)) return program;
  }
  fail(ErrorCode::backend, "the program `assay`, which runs backends in processes of their own, is not beside {}",
       library.empty() ? "the library" : printable(library.string()));
}

exec::BackendPtr safe_backend(const std::string& name, const exec::LibrarySearch& search) {
  if (name == kHosted || is_built_in(name, search)) return exec::make_backend(name);
  return isolated_backend({.backend = name});
}

}  // namespace assay::remote
