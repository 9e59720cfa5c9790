#include "convert/quantize/scale_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "convert/quantize/quantizer.h"
#include "tensor/casts.h"
#include "tensor/float_format.h"

namespace assay::convert {
namespace {

constexpr double kSmallestShare = 0.2;  // of its range that a coding may be left with
constexpr double kStep = 0.05;          // of the shares below and above 0 that are tried

// To the nearest, ties to even, of numbers within 2^22.
float rounded(float number) {
  constexpr float kUnits = 0x1.8p23F;
  return (number + kUnits) - kUnits;
}

struct SquareErrors {
  double all = 0;
  double clipped = 0;  // of the numbers that are cut off: less is left of them, more of others, where a scale shrinks
};

// Numbers that a coding is searched for, and their factors.
struct Terms {
  std::vector<float> numbers;
  std::vector<float> means;
  std::vector<float> variances;
};

SquareErrors square_errors(const Terms& terms, const Coding& coding) {
  constexpr size_t kLanes = 8;
  const float low = static_cast<float>(coding.lowest - coding.zero_point);
  const float high = static_cast<float>(coding.highest - coding.zero_point);
  std::array<double, kLanes> all = {};
  std::array<double, kLanes> clipped = {};
  std::array<double, kLanes> means = {};
  const auto add = [&](size_t lane, size_t i) {
    const float number = terms.numbers[i];
    const float scaled = number / coding.scale;
    const float kept = std::min(std::max(scaled, low), high);
    const double error = double{rounded(kept)} * double{coding.scale} - double{number};
    const double square = error * error * double{terms.variances[i]};
    all[lane] += square;
    clipped[lane] += kept == scaled ? 0 : square;
    means[lane] += error * double{terms.means[i]};
  };
  size_t i = 0;
  for (; i + kLanes <= terms.numbers.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(lane, i + lane);
  }
  for (; i < terms.numbers.size(); ++i) add(0, i);
  SquareErrors sums;
  double mean = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    sums.all += all[lane];
    sums.clipped += clipped[lane];
    mean += means[lane];
  }
  sums.all += mean * mean;
  return sums;
}

class ScaleSearch {
 public:
  ScaleSearch(const Terms& terms, int16_t lowest, int16_t highest, const CodingChoice& choice)
      : terms_(terms), lowest_(lowest), highest_(highest), choice_(choice) {
    for (const float number : terms.numbers) {
      low_ = std::min(low_, double{number});
      high_ = std::max(high_, double{number});
    }
  }

  Coding run() {
    best_ = coding_of(1, 1, false);
    if (!choice_.may_clip || (low_ == 0 && high_ == 0)) return best_;
    least_ = square_errors(terms_, best_).all;
    choice_.is_asymmetric ? search_ends() : search_scale();
    for (int round = 0; round < 2; ++round) judge(refitted(best_));
    return best_;
  }

 private:
  float step_of(double exact) const {
    constexpr float kLeastHalf = 0x1p-14F;
    constexpr float kMostHalf = 0x1.FFCp15F;
    const float step = usable_scale(exact);
    if (!choice_.rounds_scales || step < kLeastHalf || step >= kMostHalf) return step;
    return static_cast<float>(tensor::decode<tensor::kFloat16>(tensor::encode<tensor::kFloat16>(step)));
  }

  // The coding for these shares of the range below and above 0; of a symmetric one, the first.
  Coding coding_of(double below, double above, bool is_turned) const {
    if (!choice_.is_asymmetric) {
      const float step = step_of(std::max(-low_, high_) * below / highest_);
      return {is_turned ? -step : step, 0, lowest_, highest_};
    }
    const double levels = highest_ - lowest_;
    const float scale = step_of((high_ * above - low_ * below) / levels);
    const double zero_point = std::clamp(std::nearbyint(-low_ * below / scale), 0.0, levels);
    return {scale, static_cast<int16_t>(zero_point + lowest_), lowest_, highest_};
  }

  // False: what the coding cuts off alone is too much.
  bool judge(const Coding& coding) {
    const SquareErrors errors = square_errors(terms_, coding);
    if (errors.all < least_) {
      least_ = errors.all;
      best_ = coding;
    }
    return errors.clipped <= least_;
  }

  // Few numbers have errors that jump from scale to scale, and cost little, but where they are one of many blocks.
  double ratio() const {
    constexpr double kWork = 32768;
    const double most = choice_.rounds_scales ? 96 : 1024;
    const double candidates = std::clamp(kWork / static_cast<double>(terms_.numbers.size()), 24.0, most);
    return std::pow(kSmallestShare, 1 / candidates);
  }

  void search_scale() {
    const double step = ratio();
    for (const bool is_turned : {false, true}) {
      if (is_turned && !choice_.may_turn) break;
      double share = is_turned ? -1.0 * highest_ / lowest_ : 1.0;
      while (share > kSmallestShare && judge_share(share, is_turned)) share *= step;
    }
    const double share = std::fabs(double{best_.scale}) * highest_ / std::max(-low_, high_);
    for (const double nearby : {0.985, 0.99, 0.995, 1.005, 1.01, 1.015}) {
      judge(coding_of(share * nearby, share * nearby, best_.scale < 0));
    }
  }

  bool judge_share(double share, bool is_turned) {
    constexpr size_t kFew = 16;
    const Coding coding = coding_of(share, share, is_turned);
    if (terms_.numbers.size() <= kFew) judge(refitted(coding));
    return judge(coding);
  }

  void search_ends() {
    double below = 1;
    while (below > kSmallestShare && search_above(below) && low_ != 0) below -= kStep;
  }

  // False: what is cut off below 0 alone is too much.
  bool search_above(double below) {
    if (!judge(coding_of(below, 1, false))) return false;
    double above = 1 - kStep;
    while (high_ > 0 && above > kSmallestShare && judge(coding_of(below, above, false))) above -= kStep;
    return true;
  }

  // The scale that loses least with the codes that this one gives.
  Coding refitted(Coding coding) const {
    double products = 0;
    double squares = 0;
    double mean = 0;
    double mean_of_codes = 0;
    for (size_t i = 0; i < terms_.numbers.size(); ++i) {
      const double code = coding.code(terms_.numbers[i]) - coding.zero_point;
      const double weighted = code * double{terms_.variances[i]};
      products += weighted * double{terms_.numbers[i]};
      squares += weighted * code;
      mean += double{terms_.means[i]} * double{terms_.numbers[i]};
      mean_of_codes += double{terms_.means[i]} * code;
    }
    products += mean * mean_of_codes;
    squares += mean_of_codes * mean_of_codes;
    if (squares > 0) coding.scale = std::copysign(step_of(std::fabs(products / squares)), coding.scale);
    return coding;
  }

  const Terms& terms_;
  int16_t lowest_;
  int16_t highest_;
  const CodingChoice& choice_;
  double low_ = 0;
  double high_ = 0;
  Coding best_;
  double least_ = 0;
};

}  // namespace

int16_t Coding::code(float number) const {
  const float low = static_cast<float>(lowest - zero_point);
  const float high = static_cast<float>(highest - zero_point);
  return static_cast<int16_t>(rounded(std::min(std::max(number / scale, low), high)) + static_cast<float>(zero_point));
}

// Zeros lose nothing.
Coding best_coding(std::span<const float> numbers, int16_t lowest, int16_t highest, const CodingChoice& choice,
                   const Factors& factors) {
  Terms terms;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    terms.numbers.push_back(numbers[i]);
    terms.means.push_back(factors.mean(i));
    terms.variances.push_back(factors.variance(i));
  }
  return ScaleSearch(terms, lowest, highest, choice).run();
}

}  // namespace assay::convert
