#include "remote/worker.h"

#include <new>

#include <fcntl.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "onnx/document.h"
#include "onnx/import.h"
#include "onnx/load.h"
#include "remote/peer.h"
#include "remote/session_messages.h"

namespace assay::remote {
namespace {

struct Closed {};  // nobody listens any more

void send(Channel& channel, const Message& message) {
  if (channel.send(message, Deadline(0)) != Transfer::complete) throw Closed();
}

class SendingSink final : public exec::TensorSink {
 public:
  explicit SendingSink(Channel& channel) : channel_(channel) {}
  void accept(std::string_view name, const tensor::Datum& value) override { send(channel_, write_value(name, value)); }

 private:
  Channel& channel_;
};

ir::Model load_model(const PrepareRequest& request) {
  Diagnostics known;  // the other side has seen them
  if (request.model_bytes.is_none()) return onnx::load(request.options.path, {.is_onnx = true}, known);
  const Bytes bytes = request.model_bytes.is_tensor() ? request.model_bytes.tensor().bytes() : Bytes();
  return onnx::import_document(onnx::Document(MappedFile::from_bytes(bytes, "the model")), {}, known);
}

class Worker {
 public:
  explicit Worker(Descriptor socket) : channel_(std::move(socket)) {}

  void answer_all() {
    ReceivedMessage message;
    while (channel_.receive(message, Deadline(0)) == Transfer::complete) {
      try {
        answer(message);
      } catch (const Error& error) {
        send(channel_, make_failure(error));
      } catch (const std::bad_alloc&) {
        send(channel_, make_failure(Error(ErrorCode::limit, "out of memory")));
      } catch (const std::exception& error) {
        send(channel_, make_failure(Error(ErrorCode::backend, printable(error.what()))));
      }
    }
  }

 private:
  void answer(const ReceivedMessage& message) {
    if (message.kind == MessageKind::probe) return probe(read_probe(message));
    if (message.kind == MessageKind::prepare) return prepare(read_prepare(message));
    if (message.kind == MessageKind::examine) return examine(read_prepare(message));
    expect_kind(message, MessageKind::run);
    run(read_run(message));
  }

  void probe(const ProbeRequest& request) {
    send(channel_, write_probed(exec::make_backend(request.backend)->probe(request.search)));
  }

  void prepare(const PrepareRequest& request) {
    if (session_) fail(ErrorCode::backend, "the worker has a session already");
    set_thread_count(request.threads);
    backend_ = exec::find_backend(request.backend, request.options.search);
    model_ = load_model(request);
    Diagnostics findings;
    session_ = backend_->prepare(model_, request.options, findings);
    send(channel_, write_prepared(findings));
  }

  void examine(const PrepareRequest& request) {
    const ir::Model model = load_model(request);
    const exec::BackendPtr backend = exec::make_backend(request.backend);
    send(channel_, write_refused(model, backend->refusals(model, request.options.search)));
  }

  void run(const RunRequest& request) {
    if (!session_) fail(ErrorCode::backend, "the worker has no session yet");
    SendingSink sink(channel_);
    session_->run(request.feeds, request.values, sink);
    send(channel_, MessageWriter(MessageKind::done).finish());
  }

  Channel channel_;
  exec::BackendPtr backend_;
  ir::Model model_;
  std::unique_ptr<exec::Session> session_;
};

}  // namespace

int serve(int socket) {
  if (fcntl(socket, F_SETFD, FD_CLOEXEC) != 0) return kExitUsage;
  try {
    Worker(Descriptor(socket)).answer_all();
  } catch (const Closed&) {
    return kExitEqual;
  } catch (const Error& error) {
    return exit_status(error.code());
  }
  return kExitEqual;
}

}  // namespace assay::remote
