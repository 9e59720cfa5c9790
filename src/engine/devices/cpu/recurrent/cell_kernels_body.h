// The loops of cell_kernels.h; a body of instruction_sets_body.h.
#include "engine/devices/cpu/vector_math_body.h"

ASSAY_KERNEL inline void activate(CellFunction function, float clip, const Vector& given, Vector& out) {
  Vector high, low, x;
  set(high, clip);
  set(low, -clip);
  choose(given > high, high, given, x);
  choose(x < low, low, x, x);
  if (function == CellFunction::sigmoid) return logistic(x, out);
  if (function == CellFunction::tanh) return hyperbolic_tangent(x, out);
  choose(x < Vector{}, Vector{}, x, out);
}

ASSAY_KERNEL void rnn(const CellKind& kind, const CellRow& row) {
  for (size_t i = 0; i < kind.width; i += kWidth) {
    Vector h;
    activate(kind.functions[0], kind.clip, at(row.gates + i).lanes, h);
    at(row.h + i).lanes = h;
  }
}

ASSAY_KERNEL void gru_gates(const CellKind& kind, const CellRow& row, float* reset) {
  for (size_t i = 0; i < kind.width; i += kWidth) {
    Vector gates[2];
    for (size_t gate = 0; gate < 2; ++gate) {
      Place& place = at(row.gates + gate * kind.width + i);
      activate(kind.functions[0], kind.clip, place.lanes, gates[gate]);
      place.lanes = gates[gate];
    }
    at(reset + i).lanes = gates[1] * at(row.h + i).lanes;
  }
}

ASSAY_KERNEL void gru(const CellKind& kind, const CellRow& row) {
  for (size_t i = 0; i < kind.width; i += kWidth) {
    const Vector update = at(row.gates + i).lanes;
    Vector sum = at(row.gates + 2 * kind.width + i).lanes;
    if (row.own != nullptr) sum += at(row.gates + kind.width + i).lanes * at(row.own + i).lanes;
    Vector next;
    activate(kind.functions[1], kind.clip, sum, next);
    Place& h = at(row.h + i);
    h.lanes = (1.0F - update) * next + update * h.lanes;
  }
}

ASSAY_KERNEL inline void look(const CellRow& row, size_t place, const Vector& c, Vector& sum) {
  if (row.peepholes != nullptr) sum += at(row.peepholes + place).lanes * c;
}

ASSAY_KERNEL void lstm(const CellKind& kind, const CellRow& row) {
  const size_t width = kind.width;
  for (size_t i = 0; i < width; i += kWidth) {
    Vector c = at(row.c + i).lanes;
    Vector in = at(row.gates + i).lanes;
    Vector out = at(row.gates + width + i).lanes;
    Vector keep = at(row.gates + 2 * width + i).lanes;
    Vector next = at(row.gates + 3 * width + i).lanes;
    look(row, i, c, in);
    look(row, 2 * width + i, c, keep);
    activate(kind.functions[0], kind.clip, in, in);
    activate(kind.functions[0], kind.clip, keep, keep);
    if (kind.couples) keep = 1.0F - in;
    activate(kind.functions[1], kind.clip, next, next);
    c = keep * c + in * next;
    look(row, width + i, c, out);
    activate(kind.functions[0], kind.clip, out, out);
    at(row.c + i).lanes = c;
    activate(kind.functions[2], __builtin_inff(), c, c);
    at(row.h + i).lanes = out * c;
  }
}

ASSAY_KERNEL inline void read(const int32_t* x, Bits& out) {
  out = reinterpret_cast<const Bits&>(at(reinterpret_cast<const float*>(x)).lanes);
}

ASSAY_KERNEL void add_scaled(const ScaledSums& of, float* out) {
  for (size_t i = 0; i < of.sums.size(); i += kWidth) {
    Bits sum, by_zero;
    read(of.sums.data() + i, sum);
    read(of.by_zero + i, by_zero);
    const Bits whole = sum - by_zero * of.zero;
    at(out + i).lanes += __builtin_convertvector(whole, Vector) * (at(of.scales + i).lanes * of.scale);
  }
}

constexpr CellKernels kKernels = {rnn, gru_gates, gru, lstm, add_scaled};
