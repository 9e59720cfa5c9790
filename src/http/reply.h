#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
  std::vector<std::string_view> pieces;  // behind the body, not copied
  std::shared_ptr<const void> owner;     // keeps them alive
  bool is_packed = false;
  std::string sources;                  // of a page's policy: scripts and styles that may run; empty: none
  std::function<void(Stream&)> stream;  // set: instead of a body

  size_t size() const;  // of body and pieces
};

// A reply with one line of text about what is wrong.
Reply refusal(int status, std::string_view why);

// Packs a body that is worth it, if the request says that it can take that. Very large ones are as they are: on
// loopback, packing takes longer than sending.
void pack(const Request& request, Reply& reply);
// The bytes in front of the body, or of the stream: headers that keep the page from asking, or being asked, elsewhere
// are in each.
std::string head_of(const Request& request, const Reply& reply);

// A piece of a stream as it is sent; the empty one ends it.
std::string chunk(std::string_view text);

// Refuses what only a page of this server may ask, unless the request is of one. `token` is the secret that the page
// was given.
std::optional<Reply> refuse_foreign(const Request& request, std::string_view token);

}  // namespace assay::http
