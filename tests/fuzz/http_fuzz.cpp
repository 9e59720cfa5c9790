// Requests as a browser, or anybody else on the machine, sends them: whatever comes is refused or read, and a complete
// request is the same when it comes in two pieces, or with more behind it.
#include "http/reply.h"
#include "http/request.h"
#include "support/fuzzing.h"

namespace {

using namespace assay;
using namespace testing_support;

bool is_same(const http::Parsed& a, const http::Parsed& b) {
  return a.state == b.state && a.size == b.size && a.request.path == b.request.path &&
         a.request.query == b.request.query && a.request.headers == b.request.headers &&
         a.request.body == b.request.body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const http::Parsed parsed = http::parse_request(text);
  if (parsed.state != http::Parsed::State::complete) return 0;
  require(parsed.size <= size && parsed.size > 0, "a request ends where its bytes do");
  require(is_same(parsed, http::parse_request(text.substr(0, parsed.size))), "nothing behind it counts");
  require(http::parse_request(text.substr(0, parsed.size - 1)).state != http::Parsed::State::complete,
          "a part is no request");
  http::refuse_foreign(parsed.request, "secret");
  http::head_of(parsed.request, http::refusal(400, "no"));
  return 0;
}
