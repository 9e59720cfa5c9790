#include "http/server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <list>
#include <mutex>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/stopwatch.h"

namespace assay::http {
namespace {

constexpr int kPollMilliseconds = 100;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

int listen_on(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fail(ErrorCode::io, "cannot make a socket: {}", errno_text(errno));
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 || listen(fd, 16) != 0) {
    const int error = errno;
    close(fd);
    fail(ErrorCode::io, "cannot serve on port {}: {}", port, errno_text(error));
  }
  return fd;
}

// True if the socket can be read, or written, before the time is up.
bool wait_for(int fd, short events, double seconds, const std::atomic<bool>& is_stopped) {
  const Stopwatch watch;
  while (!is_stopped && watch.seconds() < seconds) {
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    if (poll(&entry, 1, kPollMilliseconds) > 0) return true;
  }
  return false;
}

bool send_all(int fd, std::string_view text, const std::atomic<bool>& is_stopped) {
  while (!text.empty()) {
    if (!wait_for(fd, POLLOUT, 30, is_stopped)) return false;
    const ssize_t sent = send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool send_reply(int fd, const Request& request, const Reply& reply, const std::atomic<bool>& is_stopped) {
  return send_all(fd, head_of(request, reply), is_stopped) && send_all(fd, reply.body, is_stopped) &&
         std::ranges::all_of(reply.pieces, [&](std::string_view piece) { return send_all(fd, piece, is_stopped); });
}

// True if the other side has ended the connection.
bool is_gone(int fd) {
  char byte = 0;
  const ssize_t size = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
}

}  // namespace

struct Server::Impl {
  Impl(ServerOptions given, Handler handle)
      : options(std::move(given)), handler(std::move(handle)), listener(listen_on(options.port)) {}

  void serve(int fd);
  bool answer(int fd, const Request& request);
  void stream(int fd, const Reply& reply);
  Reply reply_to(const Request& request) const;
  bool is_idle();
  void join_finished();

  struct Connection {
    std::thread thread;
    std::atomic<bool> is_finished = false;
  };

  ServerOptions options;
  Handler handler;
  Socket listener;
  std::atomic<bool> is_stopped = false;
  std::list<Connection> connections;
  std::mutex mutex;
  size_t open_streams = 0;
  bool had_stream = false;
  Stopwatch since_stream;
};

Reply Server::Impl::reply_to(const Request& request) const {
  if (std::optional<Reply> refused = refuse_foreign(request, options.token)) return std::move(*refused);
  try {
    return handler(request);
  } catch (const Error& error) {
    return refusal(400, error.line());
  } catch (const std::exception& error) {
    return refusal(500, error.what());
  }
}

namespace {

class SocketStream final : public Stream {
 public:
  SocketStream(int fd, const std::atomic<bool>& is_stopped) : fd_(fd), is_stopped_(is_stopped) {}
  bool write(std::string_view text) override {
    return !is_stopped_ && !is_gone(fd_) && (text.empty() || send_all(fd_, chunk(text), is_stopped_));
  }

 private:
  int fd_;
  const std::atomic<bool>& is_stopped_;
};

}  // namespace

void Server::Impl::stream(int fd, const Reply& reply) {
  {
    const std::scoped_lock lock(mutex);
    ++open_streams;
    had_stream = true;
  }
  SocketStream stream(fd, is_stopped);
  try {
    reply.stream(stream);
  } catch (const std::exception& error) {
    stream.write(fmt::format("{}\n", error.what()));
  }
  send_all(fd, chunk(""), is_stopped);
  const std::scoped_lock lock(mutex);
  --open_streams;
  since_stream = Stopwatch();
}

// False if the connection ends.
bool Server::Impl::answer(int fd, const Request& request) {
  Reply reply = reply_to(request);
  pack(request, reply);
  if (!send_reply(fd, request, reply, is_stopped)) return false;
  if (reply.stream) stream(fd, reply);
  return request.keeps_alive && reply.status < 400 && !reply.stream;
}

void Server::Impl::serve(int fd) {
  const Socket socket(fd);
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  std::string received;
  Stopwatch since_first;  // byte of the request
  while (true) {
    const Parsed parsed = parse_request(received);
    if (parsed.state == Parsed::State::refused) {
      send_reply(fd, {}, refusal(parsed.status, "the request is not understood"), is_stopped);
      shutdown(fd, SHUT_WR);
      return;
    }
    if (parsed.state == Parsed::State::complete) {
      received.erase(0, parsed.size);
      if (!answer(fd, parsed.request)) return;
      since_first = Stopwatch();
      continue;
    }
    const double limit = received.empty() ? options.alive_seconds : options.request_seconds;
    if (since_first.seconds() > limit || !wait_for(fd, POLLIN, limit - since_first.seconds(), is_stopped)) return;
    std::array<char, 16384> buffer;
    const ssize_t size = recv(fd, buffer.data(), buffer.size(), 0);
    if (size <= 0) return;
    if (received.empty()) since_first = Stopwatch();
    received.append(buffer.data(), static_cast<size_t>(size));
  }
}

bool Server::Impl::is_idle() {
  if (options.keeps_running) return false;
  const std::scoped_lock lock(mutex);
  const double limit = had_stream ? options.idle_seconds : options.first_idle_seconds;
  return open_streams == 0 && since_stream.seconds() > limit;
}

void Server::Impl::join_finished() {
  for (auto at = connections.begin(); at != connections.end();) {
    const bool is_finished = at->is_finished;
    if (is_finished) at->thread.join();
    at = is_finished ? connections.erase(at) : std::next(at);
  }
}

Server::Server(ServerOptions options, Handler handler)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(handler))) {}

Server::~Server() {
  stop();
  for (Impl::Connection& connection : impl_->connections) connection.thread.join();
}

uint16_t Server::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  getsockname(impl_->listener.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

void Server::stop() { impl_->is_stopped = true; }

void Server::run() {
  Impl& impl = *impl_;
  while (!impl.is_stopped && !impl.is_idle()) {
    if (!wait_for(impl.listener.fd(), POLLIN, 0.5, impl.is_stopped)) continue;
    const int fd = accept4(impl.listener.fd(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    impl.join_finished();
    if (impl.connections.size() >= impl.options.most_connections) {
      const Socket socket(fd);
      send_reply(fd, {}, refusal(503, "too many connections"), impl.is_stopped);
      continue;
    }
    Impl::Connection& connection = impl.connections.emplace_back();
    connection.thread = std::thread([&impl, &connection, fd] {
      impl.serve(fd);
      connection.is_finished = true;
    });
  }
  impl.is_stopped = true;
}

std::string make_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    fail(ErrorCode::io, "the system gives no random numbers");
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace assay::http
