#pragma once

#include <array>
#include <cstdint>

#include "base/files.h"
#include "remote/message.h"

namespace assay::remote {

// The head of every message on the socket. The descriptor of its memory comes with the first byte, if it has one.
struct Frame {
  MessageKind kind = MessageKind::failed;
  uint64_t body_bytes = 0;
  uint64_t memory_bytes = 0;
};

inline constexpr size_t kFrameBytes = 24;
inline constexpr uint64_t kMostBodyBytes = uint64_t{1} << 30;

std::array<std::byte, kFrameBytes> encode_frame(const Frame& frame);
// Error (backend) for anything else than a frame of this version.
Frame parse_frame(Bytes bytes);

}  // namespace assay::remote
