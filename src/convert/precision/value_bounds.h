#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "convert/precision/float_values.h"
#include "ir/model.h"

namespace assay::convert {

// Between which numbers the elements of a float value lie. Where neither constants nor operators say it, they are
// assumed to be ordinary: inputs of a model, and what it computes by products with weights.
struct Bounds {
  static constexpr double kOrdinary = 256;  // the square is beyond float16

  double low = -kOrdinary;
  double high = kOrdinary;
  bool is_assumed = true;
  bool is_positive = false;  // no element is to be 0, however small it may be

  static Bounds known(double low, double high) { return {low, high, false, low > 0}; }
  double magnitude() const { return std::max(-low, high); }
  // The least magnitude.
  double least() const { return low > 0 ? low : high < 0 ? -high : 0; }
};

// The bounds of all values of float32 or of the half type of a model: one walk along the nodes, bodies included.
// Functions are left out.
class ValueBounds {
 public:
  // Constants are taken to be within `largest`.
  ValueBounds(const ir::Model& model, const FloatModel& floats, double largest);

  const Bounds& operator[](ir::ValueId value) const { return bounds_[value.index]; }
  // The constant that a value of float32 or of the half type is; nullopt: none.
  std::optional<tensor::Tensor> constant(ir::ValueId value) const;
  // The value before a cast from one of these types to the other.
  ir::ValueId uncast(ir::ValueId value) const;
  // True if a value is computed from another one, a few nodes before it: then their quotient is ordinary.
  bool depends(ir::ValueId value, ir::ValueId on) const;

 private:
  friend class BoundsRule;
  bool is_float(ir::ValueId value) const {
    return value && (floats_.holds[value.index] == Holds::float32 || floats_.holds[value.index] == Holds::half);
  }
  void walk(ir::GraphId graph);
  void join_bodies(const ir::Node& node);
  void set_constants(double largest);

  const ir::Model& model_;
  const FloatModel& floats_;
  std::vector<Bounds> bounds_;  // by value
};

}  // namespace assay::convert
