#include "base/large_memory.h"

#include <algorithm>
#include <new>

#include <sys/mman.h>

namespace assay {
namespace {

constexpr size_t kLine = 64;  // vectors that lie across two lines are read twice

}  // namespace

void* allocate_large(size_t bytes) {
  const bool is_large = bytes >= kHugePage;
  const size_t step = is_large ? kHugePage : kLine;
  if (bytes > SIZE_MAX - step) throw std::bad_alloc();
  const size_t whole = (bytes + step - 1) / step * step;
  void* memory = std::aligned_alloc(step, whole);
  if (!memory && bytes > 0) throw std::bad_alloc();
  // Only those that are filled: a part would take all of one. Where it is not heeded, nothing is lost.
  if (is_large) madvise(memory, bytes / step * step, MADV_HUGEPAGE);
  return memory;
}

std::shared_ptr<const std::byte> reserve_addresses(size_t bytes) {
  const size_t size = std::max<size_t>(bytes, 1);
  void* const begin = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<const std::byte*>(begin), [begin, size](const std::byte*) { munmap(begin, size); }};
}

}  // namespace assay
