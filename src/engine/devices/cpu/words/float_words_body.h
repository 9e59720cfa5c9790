// Words that are numbers of float32, after vector_math_body.h.

using Element = float;

constexpr size_t kPanelVector = kBytes;  // of a vector of a panel's words
ASSAY_KERNEL inline void read_panel(const std::byte* from, Vector& out) {
  out = at(reinterpret_cast<const float*>(from)).lanes;
}
ASSAY_KERNEL inline void spread(const float* word, Vector& out) { out = *word - Vector{}; }
ASSAY_KERNEL inline void read(const float* x, Vector& out) { out = at(x).lanes; }
ASSAY_KERNEL inline void write(const Vector& x, float* out) { at(out).lanes = x; }
