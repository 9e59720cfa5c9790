// Includes ASSAY_BODY once for each set of instructions, in a namespace of its own: with ASSAY_KERNEL before functions
// that use the set, kBytes of its registers and its name.
namespace base {
[[maybe_unused]] constexpr const char* kName = "base";
[[maybe_unused]] constexpr size_t kBytes = 16;
#define ASSAY_KERNEL
#include ASSAY_BODY
#undef ASSAY_KERNEL
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
[[maybe_unused]] constexpr const char* kName = "avx2";
[[maybe_unused]] constexpr size_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include ASSAY_BODY
#undef ASSAY_KERNEL
}  // namespace avx2

namespace avx512 {
[[maybe_unused]] constexpr const char* kName = "avx512";
[[maybe_unused]] constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include ASSAY_BODY
#undef ASSAY_KERNEL
}  // namespace avx512
#endif
#undef ASSAY_BODY
