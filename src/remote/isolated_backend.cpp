#include "remote/isolated_backend.h"

#include <limits>

#include <dlfcn.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/paths.h"
#include "base/temporary_folder.h"
#include "onnx/export.h"
#include "remote/peer.h"
#include "remote/session_messages.h"

namespace assay::remote {
namespace {

constexpr uint64_t kHeadroomBytes = uint64_t{1} << 30;

std::unique_ptr<Peer> start_worker(const IsolationOptions& options, uint64_t max_memory_bytes) {
  const bool is_limited = max_memory_bytes > 0 && max_memory_bytes < std::numeric_limits<uint64_t>::max() / 2;
  const Launch launch = {.program = options.program.empty() ? worker_program() : options.program,
                         .arguments = {"--worker", "3"},
                         .max_data_bytes = is_limited ? max_memory_bytes + kHeadroomBytes : 0};
  PeerOptions peer = {.label = "the process of " + options.backend, .timeout_seconds = options.timeout_seconds};
  return std::make_unique<Peer>(launch, std::span<const int>(), std::move(peer));
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

  PrepareRequest request(const std::string& backend, const exec::SessionOptions& options) const {
    PrepareRequest request = {.backend = backend, .threads = thread_count(), .options = options, .model_bytes = bytes_};
    if (folder_) request.options.path = file();
    return request;
  }

  // The worker has its own; files stay, because it may read from them later.
  void forget_bytes() { bytes_ = {}; }

 private:
  std::filesystem::path file() const { return folder_->path() / "model.onnx"; }

  tensor::Datum bytes_;
  std::optional<TemporaryFolder> folder_;
};

class IsolatedSession final : public exec::Session {
 public:
  IsolatedSession(std::unique_ptr<const SentModel> model, std::unique_ptr<Peer> worker)
      : model_(std::move(model)), worker_(std::move(worker)) {}

  void run(std::span<const exec::Feed> feeds, std::span<const std::string> values, exec::TensorSink& sink) override {
    worker_->send(write_run(feeds, values));
    for (ReceivedMessage message = worker_->receive(); message.kind != MessageKind::done;
         message = worker_->receive()) {
      take(message, sink);
    }
  }

 private:
  // If the value is not wanted, those behind it are still on their way: the worker is of no more use.
  void take(const ReceivedMessage& message, exec::TensorSink& sink) {
    try {
      expect_kind(message, MessageKind::value);
      const tensor::NamedDatum value = read_value(message);
      sink.accept(value.name, value.value);
    } catch (...) {
      worker_->abandon("a value that it gave was not taken");
      throw;
    }
  }

  std::unique_ptr<const SentModel> model_;
  std::unique_ptr<Peer> worker_;
};

class IsolatedBackend final : public exec::Backend {
 public:
  explicit IsolatedBackend(IsolationOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return options_.backend; }

  exec::FoundLibrary library(const exec::LibrarySearch& search) const override {
    return exec::make_backend(options_.backend)->library(search);
  }

  exec::Probe probe(const exec::LibrarySearch& search) const override {
    try {
      return read_probed(start_worker(options_, 0)->ask(write_probe({options_.backend, search})));
    } catch (const Error& error) {
      exec::Probe probe;
      probe.version = error.line();
      return probe;
    }
  }

  // What is built in is asked here; a library is tried in the worker.
  std::vector<exec::Refusal> refusals(const ir::Model& model, const exec::LibrarySearch& search) const override {
    if (is_built_in(options_.backend, search)) return exec::make_backend(options_.backend)->refusals(model, search);
    return exec::refusals_of_preparing(*this, *exec::make_backend(options_.backend), model, search);
  }

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics& findings) const override {
    auto sent = std::make_unique<SentModel>(model, options);
    std::unique_ptr<Peer> worker = start_worker(options_, options.max_memory_bytes);
    read_prepared(worker->ask(write_prepare(sent->request(options_.backend, options))), findings);
    sent->forget_bytes();
    return std::make_unique<IsolatedSession>(std::move(sent), std::move(worker));
  }

 private:
  IsolationOptions options_;
};

}  // namespace

exec::BackendPtr isolated_backend(IsolationOptions options) {
  return std::make_unique<IsolatedBackend>(std::move(options));
}

std::filesystem::path worker_program() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&worker_program), &info) != 0 && info.dli_fname != nullptr) {
    // Beside `lib`, or what it has below it: lib/x86_64-linux-gnu.
    std::filesystem::path folder = absolute_path(info.dli_fname).lexically_normal().parent_path();
    for (int level = 0; level < 2; ++level) {
      folder = folder.parent_path();
      const std::filesystem::path program = folder / "bin" / "assay";
      if (is_file(program)) return program;
    }
  }
  return "/proc/self/exe";
}

exec::BackendPtr safe_backend(const std::string& name, const exec::LibrarySearch& search) {
  if (is_built_in(name, search)) return exec::make_backend(name);
  return isolated_backend({.backend = name});
}

}  // namespace assay::remote
