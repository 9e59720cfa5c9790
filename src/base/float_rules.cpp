#include "base/float_rules.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace assay {

#if defined(__x86_64__)

FloatRules FloatRules::current() { return FloatRules(_mm_getcsr()); }
void FloatRules::set() const { _mm_setcsr(static_cast<unsigned>(word_)); }
FloatRules FloatRules::flushing() const { return FloatRules(word_ | _MM_FLUSH_ZERO_ON | 0x40); }

#elif defined(__aarch64__)

FloatRules FloatRules::current() {
  uint64_t word = 0;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  return FloatRules(word);
}
void FloatRules::set() const { asm volatile("msr fpcr, %0" : : "r"(word_)); }
FloatRules FloatRules::flushing() const { return FloatRules(word_ | uint64_t{1} << 24); }

#else

FloatRules FloatRules::current() { return FloatRules(0); }
void FloatRules::set() const {}
FloatRules FloatRules::flushing() const { return *this; }

#endif

}  // namespace assay
