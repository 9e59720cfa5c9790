// Words that are codes, after vector_math_body.h: four of 8 bits, of which those of rows have no sign, or become so as
// kFlips says, or two of 16 bits, which in panels are of 8. Sums are whole numbers of 32 bits.

using Element = float;

ASSAY_KERNEL inline void spread(const float* word, Vector& out) {
  int32_t codes;
  std::memcpy(&codes, word, sizeof(codes));
  out = reinterpret_cast<Vector>(Bits{} + (kFlips ? codes ^ int32_t(0x80808080) : codes));
}
ASSAY_KERNEL inline void read(const float* x, Vector& out) { out = at(x).lanes; }
ASSAY_KERNEL inline void write(const Vector& x, float* out) { at(out).lanes = x; }
