// Words that are four codes of 8 bits, after vector_math_body.h for AVX-512 with VNNI: those of rows have no sign, or
// become so as kFlips says, those of panels have one. Sums are whole numbers of 32 bits.

using Element = float;

ASSAY_KERNEL inline void spread(const float* word, Vector& out) {
  int32_t codes;
  std::memcpy(&codes, word, sizeof(codes));
  out = reinterpret_cast<Vector>(Bits{} + (kFlips ? codes ^ int32_t(0x80808080) : codes));
}
ASSAY_KERNEL inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
  sum = reinterpret_cast<Vector>(
      _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
ASSAY_KERNEL inline void read(const float* x, Vector& out) { out = at(x).lanes; }
ASSAY_KERNEL inline void write(const Vector& x, float* out) { at(out).lanes = x; }
