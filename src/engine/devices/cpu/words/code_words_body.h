// Words that are codes, after vector_math_body.h: four of 8 bits, of which those of rows have no sign, or become so as
// kFlips says, or two of 16 bits, which in panels are of 8. Sums are whole numbers of 32 bits.

using Element = float;
constexpr bool kAreCodes = true;
[[maybe_unused]] constexpr bool kHasMasks = false;

ASSAY_KERNEL inline void spread(const float* word, Vector& out) {
  int32_t codes;
  std::memcpy(&codes, word, sizeof(codes));
  out = reinterpret_cast<Vector>(Bits{} + (kFlips ? codes ^ int32_t(0x80808080) : codes));
}
// For each row a number times those of the columns.
template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_row_sums(const int32_t* rows, const int32_t* columns,
                                                             Vector (&sums)[kRows][kVectors]) {
#pragma GCC unroll 16
  for (size_t v = 0; v < kVectors; ++v) {
    const Bits factors = reinterpret_cast<Bits>(at(reinterpret_cast<const float*>(columns) + v * kWidth).lanes);
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r)
      sums[r][v] = reinterpret_cast<Vector>(reinterpret_cast<Bits>(sums[r][v]) + factors * rows[r]);
  }
}
ASSAY_KERNEL inline void read(const float* x, Vector& out) { out = at(x).lanes; }
ASSAY_KERNEL inline void write(const Vector& x, float* out) { at(out).lanes = x; }
