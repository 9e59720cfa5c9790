#include "base/large_memory.h"

#include <new>

#include <sys/mman.h>

namespace assay {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

void* allocate_large(size_t bytes) {
  const bool is_large = bytes >= kHugePage && bytes <= SIZE_MAX - kHugePage;
  const size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* memory = is_large ? std::aligned_alloc(kHugePage, whole) : std::malloc(bytes);
  if (!memory && bytes > 0) throw std::bad_alloc();
  if (is_large) madvise(memory, whole, MADV_HUGEPAGE);  // where it is not heeded, nothing is lost
  return memory;
}

}  // namespace assay
