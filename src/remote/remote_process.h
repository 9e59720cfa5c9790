#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "remote/channel.h"
#include "remote/process.h"

namespace assay::remote {

struct RemoteProcessOptions {
  std::string label;                                // `the process of onnxrt`
  double timeout_seconds = 0;                       // for each answer; 0: none
  double grace_seconds = 0;                         // for its end, when it is no longer needed
  std::function<void(std::string_view text)> show;  // gets the details of a failure besides its line
};

// A process that answers messages. The socket is its descriptor 3. After an Error other than its own answer `failed`,
// it is ended, and every further call fails in the same way.
class RemoteProcess {
 public:
  // `descriptors` are given to it besides the socket.
  RemoteProcess(const Launch& launch, std::span<const int> descriptors, RemoteProcessOptions options);
  ~RemoteProcess();
  RemoteProcess(const RemoteProcess&) = delete;
  RemoteProcess& operator=(const RemoteProcess&) = delete;

  // Error (backend): it died. Error (limit): it gave no answer in time. An answer `failed` is thrown as the error it
  // contains.
  void send(const Message& message);
  ReceivedMessage receive();
  ReceivedMessage ask(const Message& message);
  // Ends it because its answers are no longer wanted.
  void abandon(std::string reason);

 private:
  // The two ends of a connection: ours, and the one for the process, which lives only until it was started.
  using Sockets = std::pair<Descriptor, Descriptor>;
  RemoteProcess(const Launch& launch, std::span<const int> descriptors, RemoteProcessOptions options, Sockets sockets);
  void check_alive() const;
  void check(Transfer state);
  [[noreturn]] void fail_with(Error error);

  RemoteProcessOptions options_;
  Channel channel_;
  Process process_;
  std::optional<Error> broken_;
};

// The answer `failed`, for both sides.
Message make_failure(const Error& error, std::string_view text = {});
// Throws if it is one.
void throw_failure(const ReceivedMessage& message, const std::function<void(std::string_view text)>& show);

}  // namespace assay::remote
