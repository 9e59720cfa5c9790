#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "http/reply.h"

namespace assay::http {

struct ServerOptions {
  uint16_t port = 0;  // 0: any that is free
  std::string token;
  bool keeps_running = false;       // also when no page is open
  double idle_seconds = 60;         // without an open stream, after the first one
  double first_idle_seconds = 600;  // before the first one
  double request_seconds = 10;      // in which a request must come
  double alive_seconds = 60;        // between requests of a connection
  size_t most_connections = 16;
};

// Calls come from several threads at once. An Error becomes a reply with its line.
using Handler = std::function<Reply(const Request&)>;

// Answers requests to 127.0.0.1, each connection in a thread of its own.
class Server {
 public:
  // Error (io) if the port is taken.
  Server(ServerOptions options, Handler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const;
  // Until stop() is called, or no page is open any more.
  void run();
  // From any thread.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// 128 random bits in hexadecimal digits.
std::string make_token();

}  // namespace assay::http
