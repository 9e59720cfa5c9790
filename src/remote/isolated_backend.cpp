#include "remote/isolated_backend.h"

#include <limits>

#include "base/error.h"
#include "base/parallel.h"
#include "onnx/export.h"
#include "remote/peer.h"
#include "remote/session_messages.h"

namespace assay::remote {
namespace {

constexpr uint64_t kHeadroomBytes = uint64_t{1} << 30;

std::unique_ptr<Peer> start_worker(const IsolationOptions& options, uint64_t max_memory_bytes) {
  const bool is_limited = max_memory_bytes > 0 && max_memory_bytes < std::numeric_limits<uint64_t>::max() / 2;
  const Launch launch = {.program = options.program,
                         .arguments = {"--worker", "3"},
                         .max_data_bytes = is_limited ? max_memory_bytes + kHeadroomBytes : 0};
  PeerOptions peer = {.label = "the process of " + options.backend, .timeout_seconds = options.timeout_seconds};
  return std::make_unique<Peer>(launch, std::span<const int>(), std::move(peer));
}

class IsolatedSession final : public exec::Session {
 public:
  explicit IsolatedSession(std::unique_ptr<Peer> worker) : worker_(std::move(worker)) {}

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

  // What is built in is asked here; for a library, only trying in the worker is safe, and judges the model as a whole.
  std::vector<exec::Refusal> refusals(const ir::Model& model, const exec::LibrarySearch& search) const override {
    const exec::BackendPtr backend = exec::make_backend(options_.backend);
    if (backend->library(search).tried.empty()) return backend->refusals(model, search);
    return exec::refusals_of_preparing(*this, *backend, model, search);
  }

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics& findings) const override {
    PrepareRequest request = {
        .backend = options_.backend, .threads = thread_count(), .options = options, .model_bytes = {}};
    if (options.path.empty()) {
      std::vector<std::byte> bytes = onnx::encode(model).bytes;
      const auto size = static_cast<int64_t>(bytes.size());
      request.model_bytes = tensor::Tensor(tensor::DType::uint8, {size}, tensor::make_owned(std::move(bytes)));
    }
    std::unique_ptr<Peer> worker = start_worker(options_, options.max_memory_bytes);
    read_prepared(worker->ask(write_prepare(request)), findings);
    return std::make_unique<IsolatedSession>(std::move(worker));
  }

 private:
  IsolationOptions options_;
};

}  // namespace

exec::BackendPtr isolated_backend(IsolationOptions options) {
  return std::make_unique<IsolatedBackend>(std::move(options));
}

}  // namespace assay::remote
