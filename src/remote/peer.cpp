#include "remote/peer.h"

#include "base/text.h"

namespace assay::remote {
namespace {

constexpr double kDyingSeconds = 2;  // between the end of a connection and that of its process

std::vector<int> with_socket(const Descriptor& socket, std::span<const int> others) {
  std::vector<int> all = {socket.number()};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace

Message make_failure(const Error& error, std::string_view text) {
  return MessageWriter(MessageKind::failed)
      .number(static_cast<uint64_t>(error.code()))
      .text(error.line())
      .text(text)
      .text(error.remedy())
      .finish();
}

void throw_failure(const ReceivedMessage& message, const std::function<void(std::string_view text)>& show) {
  if (message.kind != MessageKind::failed) return;
  MessageReader reader(message);
  const uint64_t code = reader.number();
  const std::string line = reader.text();
  const std::string text = reader.text();
  const std::string remedy = reader.text();
  reader.finish();
  if (show && !text.empty()) show(text);
  const bool is_code = code <= static_cast<uint64_t>(ErrorCode::cancelled);
  throw Error(is_code ? static_cast<ErrorCode>(code) : ErrorCode::backend, line).remedied_by(remedy);
}

Peer::Peer(const Launch& launch, std::span<const int> descriptors, PeerOptions options)
    : Peer(launch, descriptors, std::move(options), Channel::make_sockets()) {}

Peer::Peer(const Launch& launch, std::span<const int> descriptors, PeerOptions options, Sockets sockets)
    : options_(std::move(options)),
      channel_(std::move(sockets.first)),
      process_(launch, with_socket(sockets.second, descriptors)) {
  channel_.watch(process_.descriptor());
}

Peer::~Peer() {
  channel_.close();
  process_.end(broken_ ? 0 : options_.grace_seconds);
}

void Peer::check_alive() const {
  if (broken_) throw Error(*broken_);
}

void Peer::fail_with(Error error) {
  broken_ = error;
  channel_.close();
  process_.end(0);
  throw error;
}

void Peer::abandon(std::string reason) {
  broken_ = Error(ErrorCode::backend, fmt::format("{} was ended: {}", options_.label, reason));
  channel_.close();
  process_.end(0);
}

void Peer::check(Transfer state) {
  switch (state) {
    case Transfer::complete:
      return;
    case Transfer::closed:
      channel_.close();
      fail_with(Error(ErrorCode::backend, fmt::format("{} {}", options_.label, process_.end(kDyingSeconds))));
    case Transfer::late:
      fail_with(Error(ErrorCode::limit, fmt::format("{} gave no answer within {} seconds and was ended", options_.label,
                                                    options_.timeout_seconds)));
  }
}

void Peer::send(const Message& message) {
  check_alive();
  check(channel_.send(message, Deadline(options_.timeout_seconds)));
}

ReceivedMessage Peer::receive() {
  check_alive();
  ReceivedMessage message;
  Transfer state = Transfer::closed;
  try {
    state = channel_.receive(message, Deadline(options_.timeout_seconds));
  } catch (const Error& error) {
    fail_with(error);
  }
  check(state);
  throw_failure(message, options_.show);
  return message;
}

ReceivedMessage Peer::ask(const Message& message) {
  send(message);
  return receive();
}

}  // namespace assay::remote
