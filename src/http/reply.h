#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "http/request.h"

namespace assay::http {

// The open end of a reply that goes on until one side ends it.
class Stream {
 public:
  virtual ~Stream() = default;
  // False if the page has gone away, or the server ends.
  virtual bool write(std::string_view text) = 0;
};

struct Reply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::function<void(Stream&)> stream;  // set: instead of a body
};

// A reply with one line of text about what is wrong.
Reply refusal(int status, std::string_view why);

// The bytes of the reply, all headers with it: those that keep the page from asking, or being asked, elsewhere are on
// each. Large bodies are packed if the request says that it can take that. Of a stream only the head.
std::string encode_reply(const Request& request, const Reply& reply);

// A piece of a stream as it is sent; the empty one ends it.
std::string chunk(std::string_view text);

// Refuses what only a page of this server may ask, unless the request is of one. `token` is the secret that the page
// was given.
std::optional<Reply> refuse_foreign(const Request& request, std::string_view token);

}  // namespace assay::http
