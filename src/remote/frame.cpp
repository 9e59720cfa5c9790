#include "remote/frame.h"

#include <cstring>

#include "base/error.h"

namespace assay::remote {
namespace {

// The layout on the socket, little-endian.
struct Layout {
  uint32_t magic = 0x59415341;  // "ASAY"
  uint16_t version = 1;
  uint16_t kind = 0;
  uint64_t body_bytes = 0;
  uint64_t memory_bytes = 0;
};
static_assert(sizeof(Layout) == kFrameBytes);

constexpr uint64_t kMostMemoryBytes = uint64_t{1} << 46;  // the most that a process can map

}  // namespace

std::array<std::byte, kFrameBytes> encode_frame(const Frame& frame) {
  Layout layout;
  layout.kind = static_cast<uint16_t>(frame.kind);
  layout.body_bytes = frame.body_bytes;
  layout.memory_bytes = frame.memory_bytes;
  std::array<std::byte, kFrameBytes> bytes;
  std::memcpy(bytes.data(), &layout, sizeof layout);
  return bytes;
}

Frame parse_frame(Bytes bytes) {
  Layout layout;
  const Layout expected;
  if (bytes.size() != kFrameBytes) fail(ErrorCode::backend, "a message of another process was cut off");
  std::memcpy(&layout, bytes.data(), sizeof layout);
  if (layout.magic != expected.magic || layout.kind >= kMessageKinds) {
    fail(ErrorCode::backend, "another process sent something that is no message");
  }
  if (layout.version != expected.version) {
    fail(ErrorCode::backend, "another process speaks version {} of the protocol, expected {}", layout.version,
         expected.version);
  }
  if (layout.body_bytes > kMostBodyBytes || layout.memory_bytes > kMostMemoryBytes) {
    fail(ErrorCode::backend, "another process announced a message of {} and {} bytes, which is too large",
         layout.body_bytes, layout.memory_bytes);
  }
  return {static_cast<MessageKind>(layout.kind), layout.body_bytes, layout.memory_bytes};
}

}  // namespace assay::remote
