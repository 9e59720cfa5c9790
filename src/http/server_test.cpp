#include "http/server.h"

#include <array>
#include <chrono>
#include <list>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/stopwatch.h"

namespace assay::http {
namespace {

constexpr std::string_view kToken = "0123456789abcdef0123456789abcdef";

ServerOptions quick_options() {
  ServerOptions options;
  options.token = kToken;
  options.request_seconds = 0.5;
  return options;
}

Reply handle(const Request& request) {
  Reply reply;
  if (request.path == "/large") {
    reply.body.assign(100'000, 'x');
  } else if (request.path == "/huge") {
    reply.body.assign(5'000'000, 'x');
  } else if (request.path == "/pieces") {
    const auto owner = std::make_shared<const std::string>(6'000'000, 'y');
    reply.body = "a";
    reply.pieces = {"bc", std::string_view(*owner).substr(0, request.header("x-few").empty() ? owner->size() : 5000)};
    reply.owner = owner;
  } else if (request.path == "/api/events") {
    reply.stream = [](Stream& stream) {
      for (int i = 0; i < 3 && stream.write(fmt::format("{}\n", i)); ++i) {
      }
    };
  } else if (request.path == "/api/fail") {
    fail(ErrorCode::usage, "no such thing");
  } else {
    reply.body = request.method + " " + request.path + " " + request.body;
    if (request.path == "/page") reply.sources = "script-src 'sha256-x'; ";
  }
  return reply;
}

class Running {
 public:
  explicit Running(ServerOptions options = quick_options())
      : server_(std::move(options), handle), thread_([this] { server_.run(); }) {}
  ~Running() {
    server_.stop();
    thread_.join();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  uint16_t port() const { return server_.port(); }

 private:
  Server server_;
  std::thread thread_;
};

class Client {
 public:
  explicit Client(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view text) { static_cast<void>(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL)); }
  // All that comes until the server ends the connection.
  std::string rest() {
    std::string text;
    std::array<char, 4096> buffer;
    for (ssize_t size = 1; (size = recv(fd_, buffer.data(), buffer.size(), 0)) > 0;) {
      text.append(buffer.data(), static_cast<size_t>(size));
    }
    return text;
  }

 private:
  int fd_;
};

std::string ask(uint16_t port, std::string_view text) {
  Client client(port);
  client.send(text);
  return client.rest();
}

std::string request(std::string_view target, std::string_view headers) {
  return fmt::format("GET {} HTTP/1.1\r\n{}Connection: close\r\n\r\n", target, headers);
}

std::string line_of(const std::string& reply) { return reply.substr(0, reply.find("\r\n")); }

std::string good() { return fmt::format("Host: 127.0.0.1:80\r\nX-Assay-Token: {}\r\n", kToken); }

TEST(Server, answers_with_all_headers) {
  const Running server;
  const std::string reply = ask(server.port(), request("/api/a%20b?c=d", good()));
  EXPECT_EQ(line_of(reply), "HTTP/1.1 200 OK");
  EXPECT_TRUE(reply.ends_with("\r\n\r\nGET /api/a b ")) << reply;
  for (const char* header : {"Content-Security-Policy: default-src 'none'; img-src", "nosniff", "no-referrer",
                             "no-store", "frame-ancestors 'none'", "Cross-Origin-Resource-Policy: same-origin",
                             "Cross-Origin-Opener-Policy: same-origin-allow-popups"}) {
    EXPECT_NE(reply.find(header), std::string::npos) << header;
  }
  const std::string page = ask(server.port(), request("/page", good()));
  EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-x'; img-src"), std::string::npos) << page;
}

TEST(Server, refuses_what_is_not_its_page) {
  const Running server;
  const auto status = [&](std::string_view target, const std::string& headers) {
    return line_of(ask(server.port(), request(target, headers))).substr(9, 3);
  };
  const std::string token = fmt::format("X-Assay-Token: {}\r\n", kToken);
  EXPECT_EQ(status("/", "Host: localhost\r\n"), "200");
  EXPECT_EQ(status("/", "Host: [::1]:1234\r\n"), "200");
  EXPECT_EQ(status("/", ""), "403");
  EXPECT_EQ(status("/", "Host: evil.example\r\n"), "403");
  EXPECT_EQ(status("/", "Host: localhost.evil.example\r\n"), "403");
  EXPECT_EQ(status("/", "Host: localhost:80x\r\n"), "403");
  EXPECT_EQ(status("/", "Host: localhost\r\nHost: localhost\r\n"), "403");
  EXPECT_EQ(status("/", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"), "200");
  EXPECT_EQ(status("/api/x", "Host: localhost\r\n"), "401");
  EXPECT_EQ(status("/api/x", "Host: localhost\r\nX-Assay-Token: 0123456789abcdef0123456789abcdee\r\n"), "401");
  EXPECT_EQ(status("/api/x", "Host: localhost\r\n" + token), "200");
  EXPECT_EQ(status("/api/x", "Host: localhost\r\nOrigin: http://localhost\r\n" + token), "200");
  EXPECT_EQ(status("/api/x", "Host: localhost\r\nOrigin: http://localhost:8000\r\n" + token), "403");
  EXPECT_EQ(status("/api/x", "Host: localhost\r\nOrigin: null\r\n" + token), "403");
  EXPECT_EQ(status("/api/x", "Host: localhost\r\nSec-Fetch-Site: same-site\r\n" + token), "403");
  EXPECT_EQ(status("/api/fail", "Host: localhost\r\n" + token), "400");
}

TEST(Server, refuses_damaged_requests) {
  const Running server;
  const auto status = [&](const std::string& text) { return line_of(ask(server.port(), text)).substr(9, 3); };
  EXPECT_EQ(status("nonsense\r\n\r\n"), "400");
  EXPECT_EQ(status("PUT / HTTP/1.1\r\n\r\n"), "405");
  EXPECT_EQ(status("GET / HTTP/2.0\r\n\r\n"), "505");
  EXPECT_EQ(status("GET /%00 HTTP/1.1\r\n\r\n"), "400");
  EXPECT_EQ(status("GET /%zz HTTP/1.1\r\n\r\n"), "400");
  EXPECT_EQ(status("GET http://x/ HTTP/1.1\r\n\r\n"), "400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nno colon\r\n\r\n"), "400");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx"), "400");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\nx"), "400");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nContent-Length: 9999999\r\n\r\nx"), "413");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx"), "501");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nx: " + std::string(9000, 'x')), "431");
}

TEST(Server, keeps_a_connection_for_several_requests) {
  const Running server;
  Client client(server.port());
  const std::string head = "POST /api/x HTTP/1.1\r\n" + good() + "Content-Length: 2\r\n";
  client.send(head + "\r\nab" + head + "Connection: close\r\n\r\n");
  client.send("cd");
  const std::string reply = client.rest();
  EXPECT_NE(reply.find("POST /api/x ab"), std::string::npos);
  EXPECT_TRUE(reply.ends_with("POST /api/x cd"));
}

TEST(Server, half_a_request_is_not_waited_for) {
  const Running server;
  Client client(server.port());
  client.send("GET / HT");
  const Stopwatch watch;
  EXPECT_EQ(client.rest(), "");
  EXPECT_LT(watch.seconds(), 5);
}

TEST(Server, the_seventeenth_connection_is_refused) {
  ServerOptions options = quick_options();
  options.request_seconds = 30;
  const Running server(options);
  std::list<Client> clients;
  for (int i = 0; i < 16; ++i) clients.emplace_back(server.port()).send("GET");
  EXPECT_EQ(line_of(ask(server.port(), request("/", good()))), "HTTP/1.1 503 Service Unavailable");
  clients.clear();
  std::string last;
  for (int i = 0; i < 50 && !last.starts_with("HTTP/1.1 200"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    last = ask(server.port(), request("/", good()));
  }
  EXPECT_EQ(line_of(last), "HTTP/1.1 200 OK");
}

TEST(Server, streams_pieces) {
  const Running server;
  const std::string reply = ask(server.port(), request("/api/events", good()));
  EXPECT_NE(reply.find("Transfer-Encoding: chunked"), std::string::npos);
  EXPECT_TRUE(reply.ends_with("\r\n\r\n2\r\n0\n\r\n2\r\n1\n\r\n2\r\n2\n\r\n0\r\n\r\n")) << reply;
}

TEST(Server, packs_large_bodies_on_request) {
  const Running server;
  const std::string plain = ask(server.port(), request("/large", good()));
  EXPECT_GT(plain.size(), 100'000u);
  const std::string reply = ask(server.port(), request("/large", good() + "Accept-Encoding: br, gzip\r\n"));
  ASSERT_LT(reply.size(), 5000u);
  EXPECT_NE(reply.find("Content-Encoding: gzip"), std::string::npos);
  EXPECT_EQ(reply.substr(reply.find("\r\n\r\n") + 4, 2), "\x1f\x8b");
}

TEST(Server, sends_very_large_bodies_as_they_are) {
  const Running server;
  const std::string reply = ask(server.port(), request("/huge", good() + "Accept-Encoding: gzip\r\n"));
  EXPECT_GT(reply.size(), 5'000'000u);
  EXPECT_EQ(reply.find("Content-Encoding"), std::string::npos);
}

TEST(Server, ends_when_no_page_is_open) {
  ServerOptions options = quick_options();
  options.idle_seconds = 0.2;
  Server server(options, handle);
  std::thread page([&] { ask(server.port(), request("/api/events", good())); });
  const Stopwatch watch;
  server.run();
  page.join();
  EXPECT_GE(watch.seconds(), 0.2);
  EXPECT_LT(watch.seconds(), 10);
}

TEST(Server, a_port_is_taken_once) {
  const Running server;
  ServerOptions options = quick_options();
  options.port = server.port();
  EXPECT_THROW(Server(options, handle), Error);
}

TEST(Server, tokens_differ) {
  EXPECT_EQ(make_token().size(), 32u);
  EXPECT_NE(make_token(), make_token());
}

TEST(ParseRequest, whatever_comes_in_pieces_is_the_same) {
  const std::string text = "POST /a?b=%41&c HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET";
  for (size_t size = 0; size < text.size() - 3; ++size) {
    EXPECT_EQ(parse_request(text.substr(0, size)).state, Parsed::State::incomplete) << size;
  }
  const Parsed parsed = parse_request(text);
  ASSERT_EQ(parsed.state, Parsed::State::complete);
  EXPECT_EQ(parsed.size, text.size() - 3);
  EXPECT_EQ(parsed.request.body, "abc");
  EXPECT_EQ(parsed.request.parameter("b"), "A");
  EXPECT_EQ(parsed.request.parameter("c"), "");
  EXPECT_EQ(parsed.request.parameter("d"), std::nullopt);
}

TEST(Server, sends_pieces_behind_the_body) {
  const Running server;
  const std::string all = ask(server.port(), request("/pieces", good() + "Accept-Encoding: gzip\r\n"));
  EXPECT_NE(all.find("Content-Length: 6000003\r\n"), std::string::npos);
  EXPECT_EQ(all.substr(all.find("\r\n\r\n") + 4, 5), "abcyy");
  EXPECT_TRUE(all.size() > 6'000'003 && all.ends_with("yyy"));
  const std::string few = ask(server.port(), request("/pieces", good() + "X-Few: 1\r\nAccept-Encoding: gzip\r\n"));
  EXPECT_NE(few.find("Content-Encoding: gzip"), std::string::npos);
  EXPECT_LT(few.size(), 2000u);
}

}  // namespace
}  // namespace assay::http
