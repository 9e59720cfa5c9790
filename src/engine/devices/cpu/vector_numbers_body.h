// Numbers in memory, after vector_math_body.h: float32, bfloat16, whole numbers of 8 bits, and of 32 where they are
// written.

using Halves [[gnu::vector_size(kBytes / 2), gnu::may_alias, gnu::aligned(2)]] = uint16_t;
using Words [[gnu::vector_size(kBytes), gnu::may_alias]] = uint32_t;

ASSAY_KERNEL inline void read_numbers(const float* x, Vector& out) { out = at(x).lanes; }
ASSAY_KERNEL inline void read_numbers(const uint16_t* x, Vector& out) {
  out = reinterpret_cast<Vector>(__builtin_convertvector(*reinterpret_cast<const Halves*>(x), Words) << 16);
}

ASSAY_KERNEL inline void write_numbers(const Vector& x, float* out) { at(out).lanes = x; }
ASSAY_KERNEL inline void write_numbers(const Vector& x, uint16_t* out) {
  const Words bits = reinterpret_cast<Words>(x);
  const Words rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
  const Words is_nan = reinterpret_cast<Words>(x != x);
  const Words chosen = (is_nan & (bits >> 16 | 0x40U)) | (~is_nan & rounded);
  *reinterpret_cast<Halves*>(out) = __builtin_convertvector(chosen, Halves);
}

using UnsignedBytes [[gnu::vector_size(kBytes / 4), gnu::may_alias, gnu::aligned(1)]] = uint8_t;
using SignedBytes [[gnu::vector_size(kBytes / 4), gnu::may_alias, gnu::aligned(1)]] = int8_t;
ASSAY_KERNEL inline void read_numbers(const uint8_t* x, Vector& out) {
  const Bits whole = __builtin_convertvector(*reinterpret_cast<const UnsignedBytes*>(x), Bits);
  out = __builtin_convertvector(whole, Vector);
}
ASSAY_KERNEL inline void read_numbers(const int8_t* x, Vector& out) {
  const Bits whole = __builtin_convertvector(*reinterpret_cast<const SignedBytes*>(x), Bits);
  out = __builtin_convertvector(whole, Vector);
}
ASSAY_KERNEL inline void write_numbers(const Vector& x, int32_t* out) {
  const Bits whole = __builtin_convertvector(x, Bits);
  at(reinterpret_cast<float*>(out)).lanes = reinterpret_cast<Vector>(whole);
}
