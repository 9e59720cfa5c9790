#pragma once

#include <cstdint>

namespace assay {

// The rules by which the calling thread computes with floats: rounding, and what becomes of subnormal numbers.
class FloatRules {
 public:
  static FloatRules current();
  void set() const;
  // The same, but operands and results that are subnormal count as zero.
  FloatRules flushing() const;
  friend bool operator==(const FloatRules&, const FloatRules&) = default;

 private:
  explicit FloatRules(uint64_t word) : word_(word) {}
  uint64_t word_;
};

// While it lives, the thread computes by these rules.
class FloatScope {
 public:
  explicit FloatScope(FloatRules rules) : outer_(FloatRules::current()) { rules.set(); }
  ~FloatScope() { outer_.set(); }
  FloatScope(const FloatScope&) = delete;
  FloatScope& operator=(const FloatScope&) = delete;

 private:
  FloatRules outer_;
};

}  // namespace assay
