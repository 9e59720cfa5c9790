// Sixteen codes, where no register holds what they stand for; included where vector_math_body.h is.

struct NibbleTable {
  ASSAY_KERNEL explicit NibbleTable(float given) { set(zero, given); }
  ASSAY_KERNEL void look_up(const Bits& codes, Vector& out) const {
    out = __builtin_convertvector(codes & 15, Vector) - zero;
  }
  Vector zero;
};
