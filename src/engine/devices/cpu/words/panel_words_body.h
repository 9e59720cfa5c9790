// Words of panels that are multiplied as they are, after vector_math_body.h.

constexpr size_t kPanelVector = kBytes;  // bytes of a vector of them
ASSAY_KERNEL inline void read_panel(const std::byte* from, Vector& out) {
  out = at(reinterpret_cast<const float*>(from)).lanes;
}
