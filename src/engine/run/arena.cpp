#include "engine/run/arena.h"

#include "base/error.h"
#include "base/text.h"

namespace assay::engine {
namespace {

[[noreturn]] void refuse_memory(const Device& device, uint64_t bytes, uint64_t most, std::string_view word) {
  throw Error(ErrorCode::limit,
              fmt::format("the engine needs {} of memory for values{}, {} are {}", human_bytes(bytes),
                          device.is_host() ? "" : fmt::format(" on {}", device.name()), human_bytes(most), word))
      .remedied_by("max_memory");
}

}  // namespace

Buffer allocate_on(const Device& device, uint64_t bytes) {
  if (const uint64_t most = device.free_bytes(); bytes > most) refuse_memory(device, bytes, most, "available");
  return device.allocate(bytes);
}

// With a limit, memory that larger programs needed is not kept for small ones.
void Arena::reserve(const Device& device, uint64_t bytes, ops::LiveMemory& account, bool is_limited) {
  const bool is_counted = is_limited && device.is_host();
  if (memory_.owner && bytes <= memory_.bytes && (!is_counted || bytes >= memory_.bytes / 2)) return;
  if (is_counted) account.give_back(memory_.bytes);
  memory_ = {};
  if (!is_counted) {
    memory_ = allocate_on(device, bytes);
    return;
  }
  if (const uint64_t left = account.left(bytes); bytes > left) refuse_memory(device, bytes, left, "left");
  memory_ = device.allocate(bytes);
  account.hold(bytes);
}

}  // namespace assay::engine
