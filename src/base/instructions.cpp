#include "base/instructions.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace assay {

bool has_f16c() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
#else
  return false;
#endif
}

}  // namespace assay
