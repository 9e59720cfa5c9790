#pragma once

#include <chrono>
#include <utility>

#include "remote/descriptor.h"
#include "remote/frame.h"

namespace assay::remote {

// A point in time until which something is waited for.
class Deadline {
 public:
  explicit Deadline(double seconds);  // 0: none
  // For poll(); -1: none.
  int milliseconds_left() const;

 private:
  bool is_set_;
  std::chrono::steady_clock::time_point end_;
};

enum class Transfer { complete, closed, late };

// Messages over a Unix socket. Not for several threads at once.
class Channel {
 public:
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  // Both ends of a new connection.
  static std::pair<Descriptor, Descriptor> make_sockets();

  // `closed`: the other side is gone. After anything but `complete` the channel must not be used.
  Transfer send(const Message& message, const Deadline& deadline);
  // Error (backend) if the other side sends an invalid message.
  Transfer receive(ReceivedMessage& message, const Deadline& deadline);
  void close() { socket_.reset(); }
  // A pidfd: the end of that process is the end of the connection, whoever else has inherited the other side.
  void watch(Descriptor process) { process_ = std::move(process); }

 private:
  Transfer wait(short events, const Deadline& deadline) const;
  Transfer send_bytes(Bytes bytes, const Descriptor& attached, const Deadline& deadline) const;
  // Fewer bytes than asked for and `complete`: there is more to come.
  Transfer receive_some(std::span<std::byte>& rest, Descriptor& attached, const Deadline& deadline) const;
  Transfer receive_body(std::vector<std::byte>& body, uint64_t size, const Deadline& deadline) const;

  Descriptor socket_;
  Descriptor process_;
};

}  // namespace assay::remote
