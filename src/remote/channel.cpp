#include "remote/channel.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include <poll.h>
#include <sys/socket.h>

#include "base/errno_text.h"
#include "base/error.h"

namespace assay::remote {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{1} << 20;  // of a body; memory grows with what came

// Room for one descriptor beside the bytes.
struct Attachment {
  alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int))] = {};
};

msghdr make_header(iovec& piece, Attachment& attachment) {
  msghdr header = {};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = attachment.bytes;
  header.msg_controllen = sizeof attachment.bytes;
  return header;
}

void attach(msghdr& header, int descriptor) {
  cmsghdr* control = CMSG_FIRSTHDR(&header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
}

Descriptor attached_to(msghdr& header) {
  const cmsghdr* control = CMSG_FIRSTHDR(&header);
  if (control == nullptr || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) return {};
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(control), sizeof descriptor);
  return Descriptor(descriptor);
}

bool is_again(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Deadline::Deadline(double seconds) : is_set_(seconds > 0 && seconds < 1e9) {
  if (is_set_) {
    const std::chrono::duration<double> span(seconds);
    end_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(span);
  }
}

int Deadline::milliseconds_left() const {
  if (!is_set_) return -1;
  const std::chrono::duration<double, std::milli> left = end_ - std::chrono::steady_clock::now();
  return static_cast<int>(std::clamp(std::ceil(left.count()), 0.0, 1e9));
}

std::pair<Descriptor, Descriptor> Channel::make_sockets() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    fail(ErrorCode::limit, "cannot make a socket: {}", errno_text(errno));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Transfer Channel::wait(short events, const Deadline& deadline) const {
  pollfd waited[] = {{socket_.number(), events, 0}, {process_.number(), POLLIN, 0}};
  for (;;) {
    const int ready = poll(waited, 2, deadline.milliseconds_left());
    if (ready > 0) return waited[0].revents != 0 ? Transfer::complete : Transfer::closed;
    if (ready == 0) return Transfer::late;
    if (errno != EINTR) return Transfer::closed;
  }
}

Transfer Channel::send(const Message& message, const Deadline& deadline) {
  if (message.body.size() > kMostBodyBytes) {
    fail(ErrorCode::limit, "a message of {} bytes is too large", message.body.size());
  }
  Descriptor memory;
  if (message.memory_bytes > 0) memory = make_shared_memory(message.memory_bytes, message.placed);
  const std::array<std::byte, kFrameBytes> frame =
      encode_frame({message.kind, message.body.size(), message.memory_bytes});
  const Transfer state = send_bytes(frame, memory, deadline);
  return state == Transfer::complete ? send_bytes(message.body, {}, deadline) : state;
}

Transfer Channel::send_bytes(Bytes bytes, const Descriptor& attached, const Deadline& deadline) const {
  bool is_attached = !attached.is_open();
  while (!bytes.empty()) {
    iovec piece = {const_cast<std::byte*>(bytes.data()), bytes.size()};
    Attachment attachment;
    msghdr header = make_header(piece, attachment);
    if (is_attached) header.msg_controllen = 0;
    if (!is_attached) attach(header, attached.number());
    const ssize_t count = sendmsg(socket_.number(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && !is_again(errno)) return Transfer::closed;
    if (count < 0) {
      const Transfer state = wait(POLLOUT, deadline);
      if (state != Transfer::complete) return state;
      continue;
    }
    is_attached = true;
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return Transfer::complete;
}

Transfer Channel::receive_some(std::span<std::byte>& rest, Descriptor& attached, const Deadline& deadline) const {
  const Transfer state = wait(POLLIN, deadline);
  if (state != Transfer::complete) return state;
  iovec piece = {rest.data(), rest.size()};
  Attachment attachment;
  msghdr header = make_header(piece, attachment);
  const ssize_t count = recvmsg(socket_.number(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0) return is_again(errno) ? Transfer::complete : Transfer::closed;
  if (Descriptor came = attached_to(header); came.is_open()) attached = std::move(came);
  if (count == 0) return Transfer::closed;
  rest = rest.subspan(static_cast<size_t>(count));
  return Transfer::complete;
}

Transfer Channel::receive(ReceivedMessage& message, const Deadline& deadline) {
  std::array<std::byte, kFrameBytes> bytes;
  Descriptor memory;
  for (std::span<std::byte> rest(bytes); !rest.empty();) {
    const Transfer state = receive_some(rest, memory, deadline);
    if (state != Transfer::complete) return state;
  }
  const Frame frame = parse_frame(bytes);
  if (memory.is_open() != (frame.memory_bytes > 0)) {
    fail(ErrorCode::backend, "a message of another process came without its memory, or with one too much");
  }
  message.kind = frame.kind;
  message.memory = frame.memory_bytes > 0 ? map_shared_memory(memory, frame.memory_bytes) : SharedBytes();
  return receive_body(message.body, frame.body_bytes, deadline);
}

Transfer Channel::receive_body(std::vector<std::byte>& body, uint64_t size, const Deadline& deadline) const {
  body.clear();
  while (body.size() < size) {
    const uint64_t begin = body.size();
    body.resize(begin + std::min(kPieceBytes, size - begin));
    Descriptor unwanted;
    for (std::span<std::byte> rest = std::span(body).subspan(begin); !rest.empty();) {
      const Transfer state = receive_some(rest, unwanted, deadline);
      if (state != Transfer::complete) return state;
    }
  }
  return Transfer::complete;
}

}  // namespace assay::remote
