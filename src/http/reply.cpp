#include "http/reply.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/gzip.h"
#include "base/text.h"

namespace assay::http {
namespace {

constexpr size_t kLeastPacked = 4096;
constexpr size_t kMostPacked = 4U << 20U;

constexpr std::string_view kPolicy =
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'";
constexpr std::string_view kHeaders =
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cache-Control: no-store\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin-allow-popups\r\n";

struct StatusWords {
  int status;
  std::string_view words;
};

constexpr std::array kStatusWords = {
    StatusWords{200, "OK"},
    StatusWords{400, "Bad Request"},
    StatusWords{401, "Unauthorized"},
    StatusWords{403, "Forbidden"},
    StatusWords{404, "Not Found"},
    StatusWords{405, "Method Not Allowed"},
    StatusWords{408, "Request Timeout"},
    StatusWords{409, "Conflict"},
    StatusWords{413, "Content Too Large"},
    StatusWords{431, "Request Header Fields Too Large"},
    StatusWords{500, "Internal Server Error"},
    StatusWords{501, "Not Implemented"},
    StatusWords{503, "Service Unavailable"},
    StatusWords{505, "HTTP Version Not Supported"},
};

std::string_view words_of(int status) {
  const auto found = std::ranges::find(kStatusWords, status, &StatusWords::status);
  return found == kStatusWords.end() ? "Error" : found->words;
}

bool takes_packed(const Request& request) {
  for (const std::string_view item : split(request.header("accept-encoding"), ',')) {
    const size_t begin = item.find_first_not_of(' ');
    if (begin != std::string_view::npos && item.substr(begin) == "gzip") return true;
  }
  return false;
}

// True for localhost, 127.0.0.1 and [::1] with any port: a tunnel has another one.
bool is_loopback(std::string_view host) {
  for (const std::string_view name : {"localhost", "127.0.0.1", "[::1]"}) {
    if (!host.starts_with(name)) continue;
    const std::string_view rest = host.substr(name.size());
    if (rest.empty()) return true;
    uint16_t port = 0;
    const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), port);
    if (rest[0] == ':' && error == std::errc() && end == rest.data() + rest.size()) return true;
  }
  return false;
}

// Takes the same time wherever the texts differ.
bool is_same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

size_t Reply::size() const {
  size_t size = body.size();
  for (const std::string_view piece : pieces) size += piece.size();
  return size;
}

Reply refusal(int status, std::string_view why) {
  Reply reply;
  reply.status = status;
  reply.type = "text/plain";
  reply.body = std::string(why) + "\n";
  return reply;
}

void pack(const Request& request, Reply& reply) {
  const bool is_worth = reply.size() > kLeastPacked && reply.size() < kMostPacked;
  if (!is_worth || !takes_packed(request)) return;
  GzipWriter writer(1);
  writer.add(reply.body);
  for (const std::string_view piece : reply.pieces) writer.add(piece);
  reply.body = writer.finish();
  reply.pieces.clear();
  reply.is_packed = true;
}

std::string head_of(const Request& request, const Reply& reply) {
  const bool keeps_alive = request.keeps_alive && reply.status < 400 && !reply.stream;
  std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Security-Policy: default-src 'none'; {}{}\r\n"
      "{}Connection: {}\r\n",
      reply.status, words_of(reply.status), reply.type, reply.sources, kPolicy, kHeaders,
      keeps_alive ? "keep-alive" : "close");
  if (reply.stream) return head + "Transfer-Encoding: chunked\r\n\r\n";
  if (reply.is_packed) head += "Content-Encoding: gzip\r\n";
  return head + fmt::format("Content-Length: {}\r\n\r\n", reply.size());
}

std::string chunk(std::string_view text) { return fmt::format("{:x}\r\n{}\r\n", text.size(), text); }

std::optional<Reply> refuse_foreign(const Request& request, std::string_view token) {
  const auto count = std::ranges::count(request.headers, "host", [](const auto& item) { return item.first; });
  if (count != 1 || !is_loopback(request.header("host"))) return refusal(403, "this host is not served");
  if (!request.path.starts_with("/api")) return std::nullopt;
  const std::string_view origin = request.header("origin");
  if (!origin.empty() && origin != "http://" + std::string(request.header("host"))) {
    return refusal(403, "pages of other origins may not ask");
  }
  const std::string_view site = request.header("sec-fetch-site");
  if (!site.empty() && site != "same-origin") return refusal(403, "pages of other sites may not ask");
  if (!is_same_secret(request.header("x-assay-token"), token)) return refusal(401, "the token is missing or wrong");
  return std::nullopt;
}

}  // namespace assay::http
