#include "http/request.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace assay::http {
namespace {

constexpr size_t kMostHeaders = 100;

Parsed refused(int status) {
  Parsed parsed;
  parsed.state = Parsed::State::refused;
  parsed.status = status;
  return parsed;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_plain || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_visible(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
  });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Text with %XX decoded; nothing for what is none, and for NUL.
std::optional<std::string> decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return std::nullopt;
    const int byte = digit(text[i + 1]) * 16 + digit(text[i + 2]);
    if (byte == 0) return std::nullopt;
    result += static_cast<char>(byte);
    i += 2;
  }
  return result;
}

bool read_target(std::string_view target, Request& request) {
  if (!target.starts_with('/')) return false;
  const size_t mark = target.find('?');
  const std::optional<std::string> path = decoded(target.substr(0, mark));
  if (!path) return false;
  request.path = *path;
  if (mark == std::string_view::npos) return true;
  for (const std::string_view pair : split(target.substr(mark + 1), '&')) {
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const std::optional<std::string> name = decoded(pair.substr(0, equals));
    const std::optional<std::string> value =
        decoded(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1));
    if (!name || !value) return false;
    request.query.emplace_back(*name, *value);
  }
  return true;
}

// The status that refuses the line; 0: it is good.
int read_line(std::string_view line, Request& request) {
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.size() != 3 || !is_token(words[0])) return 400;
  if (words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0") return words[2].starts_with("HTTP/") ? 505 : 400;
  request.method = words[0];
  request.keeps_alive = words[2] == "HTTP/1.1";
  if (request.method != "GET" && request.method != "POST") return 405;
  return is_visible(words[1]) && read_target(words[1], request) ? 0 : 400;
}

bool read_header(std::string_view line, Request& request) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) || !is_visible(line)) return false;
  request.headers.emplace_back(to_lower(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  return request.headers.size() <= kMostHeaders;
}

// The stated length of the body. Two lengths, or a body in pieces, are how requests are smuggled: they are refused.
std::optional<size_t> body_size(const Request& request, int& status) {
  size_t size = 0;
  size_t count = 0;
  status = 400;
  for (const auto& [name, value] : request.headers) {
    if (name == "transfer-encoding") {
      status = 501;
      return std::nullopt;
    }
    if (name != "content-length") continue;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), size);
    if (++count > 1 || value.empty() || error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  }
  status = 413;
  return size <= kMostBody ? std::optional(size) : std::nullopt;
}

int read_head(std::string_view head, Request& request) {
  size_t begin = 0;
  for (bool is_first = true; begin < head.size(); is_first = false) {
    const size_t end = head.find("\r\n", begin);
    const std::string_view line = head.substr(begin, end - begin);
    begin = end + 2;
    if (is_first) {
      if (const int status = read_line(line, request)) return status;
    } else if (!read_header(line, request)) {
      return 400;
    }
  }
  return 0;
}

}  // namespace

std::string_view Request::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, [](const auto& item) { return std::string_view(item.first); });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<std::string_view> Request::parameter(std::string_view name) const {
  const auto found = std::ranges::find(query, name, [](const auto& item) { return std::string_view(item.first); });
  return found == query.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

std::vector<std::string_view> Request::parts() const {
  std::vector<std::string_view> result;
  for (const std::string_view part : split(path, '/')) {
    if (!part.empty()) result.push_back(part);
  }
  return result;
}

Parsed parse_request(std::string_view bytes) {
  const size_t end = bytes.substr(0, kMostHead).find("\r\n\r\n");
  if (end == std::string_view::npos) return bytes.size() >= kMostHead ? refused(431) : Parsed();
  Parsed parsed;
  if (const int status = read_head(bytes.substr(0, end + 2), parsed.request)) return refused(status);
  int status = 400;
  const std::optional<size_t> size = body_size(parsed.request, status);
  if (!size) return refused(status);
  if (bytes.size() - (end + 4) < *size) return Parsed();
  parsed.state = Parsed::State::complete;
  parsed.size = end + 4 + *size;
  parsed.request.body = bytes.substr(end + 4, *size);
  const std::string connection = to_lower(parsed.request.header("connection"));
  if (connection == "close") parsed.request.keeps_alive = false;
  if (connection == "keep-alive") parsed.request.keeps_alive = true;
  return parsed;
}

}  // namespace assay::http
