#include "remote/worker.h"

#include <new>

#include <fcntl.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "onnx/document.h"
#include "onnx/import.h"
#include "onnx/load.h"
#include "remote/remote_process.h"
#include "remote/session_messages.h"

namespace assay::remote {
namespace {

struct Closed {};  // nobody listens any more

void send(Channel& channel, const Message& message) {
  if (channel.send(message, Deadline(0)) != Transfer::complete)
    throw Closed();  // NOLINT(bugprone-std-exception-baseclass): no error, nor caught as one
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
    if (message.kind == MessageKind::make_execution) return make_execution(read_make_execution(message));
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
    Diagnostics findings;
    if (request.is_plan) {
      session_ = backend_->open_plan(request.options.path, request.options, findings);
    } else {
      model_ = load_model(request);
      session_ = backend_->prepare(model_, request.options, findings);
    }
    send(channel_, write_prepared(facts(request.options.values), findings));
  }

  SessionFacts facts(std::span<const std::string> values) const {
    SessionFacts facts{.signature = session_->signature(),
                       .description = session_->description(),
                       .answers = {},
                       .assignment = session_->assignment()};
    const auto ask = [&](const std::string& value) {
      exec::TapAnswer answer = session_->answer(value);
      if (answer.kind != exec::TapAnswer::Kind::given) facts.answers.emplace(value, std::move(answer));
    };
    for (const exec::Port& output : facts.signature.outputs) ask(output.name);
    for (const std::string& value : values) ask(value);
    return facts;
  }

  void make_execution(const exec::ExecutionOptions& options) {
    if (!session_) fail(ErrorCode::backend, "the worker has no session yet");
    executions_.push_back(session_->make_execution(options));
    send(channel_, MessageWriter(MessageKind::done).finish());
  }

  void run(const RunMessage& request) {
    if (request.execution >= executions_.size()) fail(ErrorCode::backend, "the worker has no such execution");
    exec::Execution& execution = *executions_[request.execution];
    SendingSink sink(channel_);
    execution.run(request.feeds, request.values, sink);
    send(channel_, write_ran({execution.seconds(), execution.profile()}));
  }

  Channel channel_;
  exec::BackendPtr backend_;
  ir::Model model_;
  std::unique_ptr<exec::Session> session_;
  std::vector<std::unique_ptr<exec::Execution>> executions_;
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
