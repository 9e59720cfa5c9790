// Arbitrary bytes read as a frame, and as the body and the memory of a message: only Error may come out of it. The
// first byte says how many of the rest, in steps of 16, are the body; what follows is the memory.
#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "remote/frame.h"
#include "remote/session_messages.h"

namespace {

using namespace assay;

template <typename Fn>
void only_errors(Fn&& fn) {
  try {
    fn();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::usage || error.line().empty()) std::abort();
  }
}

// What was read is written and read again, and must be the same message.
void repeat(const remote::ReceivedMessage& message) {
  const tensor::NamedData data = remote::MessageReader(message).data();
  const remote::Message again = remote::MessageWriter(remote::MessageKind::data).data(data).finish();
  if (again.placed.empty() && again.memory_bytes != 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes all = std::as_bytes(std::span(data, size));
  only_errors([&] { remote::parse_frame(all.first(std::min(all.size(), remote::kFrameBytes))); });
  if (all.empty()) return 0;
  const size_t body = std::min<size_t>(data[0] * size_t{16}, size - 1);
  remote::ReceivedMessage message;
  message.body.assign(all.begin() + 1, all.begin() + 1 + static_cast<ptrdiff_t>(body));
  message.memory.bytes = all.subspan(1 + body);
  only_errors([&] { repeat(message); });
  only_errors([&] { remote::read_prepare(message); });
  only_errors([&] { remote::read_run(message); });
  only_errors([&] { remote::read_make_execution(message); });
  message.kind = remote::MessageKind::probed;
  only_errors([&] { remote::read_probed(message); });
  message.kind = remote::MessageKind::prepared;
  Diagnostics findings;
  only_errors([&] { remote::read_prepared(message, findings); });
  message.kind = remote::MessageKind::ran;
  only_errors([&] { remote::read_ran(message); });
  return 0;
}
