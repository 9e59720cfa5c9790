#pragma once

#include <optional>
#include <string>
#include <vector>

#include "debug/accuracy/walk.h"

namespace assay::debug {

using Numbers = std::vector<double>;

// The result of an accused layer next to the exact one, and how far candidates explain it.
class Observation {
 public:
  // Elements that a parameter may be fitted to, those that it has to explain then, or all.
  enum class Part { all, fitted, rest };

  explicit Observation(const Accused& accused);

  const Numbers& given() const { return given_; }
  const Numbers& exact() const { return exact_; }
  const tensor::Shape& shape() const { return shape_; }
  double unit() const { return unit_; }        // roundoff of the declared type
  bool is_whole() const { return is_whole_; }  // whole numbers or booleans
  double allowed(size_t i) const;              // allowed distance of a candidate of the size of what was given
  bool is_wrong(size_t i) const { return is_wrong_[i]; }
  uint64_t wrong_count() const { return wrong_count_; }
  bool is_in(Part part, size_t i) const { return part == Part::all || is_fitted_[i] == (part == Part::fitted); }

  // Bits that speak for a candidate: of each wrong element, how many times nearer the candidate is. Returns nullopt if
  // an element contradicts it.
  std::optional<double> evidence(const Numbers& candidate, Part part = Part::all) const;
  // True if chance is no explanation. A candidate with fitted parameters has to explain several other elements.
  bool is_explained_by(const Numbers& candidate) const;
  bool is_explained_by_fit(const Numbers& candidate) const;

 private:
  double bits(size_t i, double candidate, uint64_t& slips) const;

  Numbers given_;
  Numbers exact_;
  std::vector<float> may_;
  std::vector<bool> is_wrong_;
  std::vector<bool> is_fitted_;
  tensor::Shape shape_;
  double unit_ = 0;
  double rms_ = 0;
  bool is_whole_ = false;
  bool is_boolean_ = false;
  uint64_t wrong_count_ = 0;
};

// Candidates that explain an observation.
class Explanations {
 public:
  explicit Explanations(const Observation& seen) : seen_(seen) {}
  // Takes a candidate if it explains the observation. `is_fitted`: a parameter of it was fitted.
  bool add(std::string text, const std::optional<Numbers>& candidate, bool is_fitted = false);
  // The best ones, joined by `or`; empty if there is none.
  std::string told() const;

 private:
  struct Explanation {
    std::string text;
    double bits = 0;
  };

  const Observation& seen_;
  std::vector<Explanation> found_;
};

}  // namespace assay::debug
