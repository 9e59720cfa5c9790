// Products with panels of numbers of 16 bits, which become float32 when they are loaded; after block_numbers_body.h and
// panel_products_body.h.

struct Bfloat16Numbers {
  using Stored = uint16_t;
  ASSAY_KERNEL static void load(const uint16_t* from, Vector& out) {
    Bits bits;
    load_bits(from, bits);
    out = reinterpret_cast<Vector>(bits << 16);
  }
};

struct Float16Numbers {
  using Stored = uint16_t;
  template <typename V>
  ASSAY_KERNEL static void load(const uint16_t* from, V& out) {
    if constexpr (sizeof(V) == 64) {
      out = _mm512_maskz_cvtph_ps(kAllLanes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    } else {  // without numbers that are subnormal in float32
      Bits bits;
      load_bits(from, bits);
      const Bits size = (bits & 0x7FFF) << 13;
      const V small = reinterpret_cast<V>(size | 0x38800000) - 0x1p-14F;
      out = size < 0x800000 ? small : reinterpret_cast<V>(size + 0x38000000);
      out = reinterpret_cast<V>(reinterpret_cast<Bits>(out) | (bits & 0x8000) << 16);
    }
  }
};

ASSAY_KERNEL void multiply_halves(const PanelRows& rows, const uint16_t* panel, bool are_bfloat16) {
  are_bfloat16 ? multiply_numbers<Bfloat16Numbers>(rows, panel, kPanel)
               : multiply_numbers<Float16Numbers>(rows, panel, kPanel);
}
