#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::http {

inline constexpr size_t kMostHead = size_t{8} * 1024;
inline constexpr size_t kMostBody = size_t{1024} * 1024;

// One request, decoded. Names of headers are in lower case.
struct Request {
  std::string method;
  std::string path;  // decoded, without the query
  std::vector<std::pair<std::string, std::string>> query;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool keeps_alive = true;

  // Empty where there is none.
  std::string_view header(std::string_view name) const;
  std::optional<std::string_view> parameter(std::string_view name) const;
  // The parts of the path between slashes.
  std::vector<std::string_view> parts() const;
};

// A request at the beginning of received bytes, or why there is none.
struct Parsed {
  enum class State { incomplete, complete, refused };
  State state = State::incomplete;
  size_t size = 0;   // of the complete request
  int status = 400;  // for refused ones
  Request request;
};

// Reads one request of HTTP/1.0 or 1.1 with at most kMostHead bytes of head and kMostBody of body of a stated length.
// Nothing is read twice when more bytes come, but the head.
Parsed parse_request(std::string_view bytes);

}  // namespace assay::http
