#pragma once

#include <cstdint>

namespace assay {

// The calling thread's rules for floats: rounding, and the fate of subnormal numbers.
class FloatRules {
 public:
  static FloatRules current();
  void set() const;
  // These rules, but operands and results that are subnormal count as zero.
  FloatRules flushing() const;
  friend bool operator==(const FloatRules&, const FloatRules&) = default;

 private:
  explicit FloatRules(uint64_t word) : word_(word) {}
  uint64_t word_;
};

// Makes the thread compute by other rules while it lives.
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
