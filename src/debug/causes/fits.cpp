#include "debug/causes/fits.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "debug/accuracy/distances.h"

namespace assay::debug {
namespace {

constexpr int kMostSteps = 12;
constexpr int kFirstSteps = 3;
constexpr double kLeftAfter = 0.5;  // of the loss
constexpr int kMostHalvings = 6;
constexpr double kMostLoss = 1e12;   // of one element
constexpr double kSmallStep = 1e-4;  // of the parameter, for slopes
constexpr double kEnd = 1e-9;
constexpr int kWidest = 10;    // percent
constexpr double kGood = 1;    // loss of an element that is explained
constexpr double kAsGood = 2;  // a shorter number may lose so many times as much
constexpr int kMostDigits = 7;

class Fit {
 public:
  Fit(const Observation& seen, const Predictor& predict) : seen_(seen), predict_(predict) {}

  std::optional<Fitted> run(const std::vector<double>& starts) {
    for (const double start : starts) consider(start);
    if (!best_) return std::nullopt;
    seen_.is_whole() ? search() : descend();
    if (!seen_.is_explained_by_fit(best_->candidate)) return std::nullopt;
    shorten();
    return std::move(best_);
  }

 private:
  void descend() {
    const double at_first = loss_;
    for (int step = 0; step < kMostSteps && improve(); ++step) {
      if (step == kFirstSteps && loss_ > kLeftAfter * at_first) return;  // the right parameter is reached at once
    }
  }

  // The mean over the elements that fits may use, in squares of what an element may be off.
  double loss(const Numbers& candidate) const {
    double sum = 0;
    uint64_t count = 0;
    for (size_t i = 0; i < candidate.size(); ++i) {
      if (!seen_.is_in(Observation::Part::fitted, i)) continue;
      const double by = (candidate[i] - seen_.given()[i]) / weight(i);
      sum += is_same(candidate[i], seen_.given()[i]) ? 0 : std::isfinite(by) ? std::min(by * by, kMostLoss) : kMostLoss;
      ++count;
    }
    return count == 0 ? INFINITY : sum / static_cast<double>(count);
  }

  double weight(size_t i) const {
    const double allowed = seen_.allowed(i);
    return std::isinf(allowed) ? INFINITY : seen_.is_whole() ? std::max(allowed, 0.5) : std::max(allowed, 1e-300);
  }

  bool consider(double parameter) {
    if (!std::isfinite(parameter)) return false;
    std::optional<Numbers> candidate = predict_(parameter);
    if (!candidate || candidate->size() != seen_.given().size()) return false;
    const double left = loss(*candidate);
    if (best_ && !(left < loss_)) return false;
    best_ = Fitted{parameter, std::move(*candidate)};
    loss_ = left;
    return true;
  }

  // A step of Gauss and Newton, halved until it helps.
  bool improve() {
    if (loss_ == 0) return false;
    const double at = best_->parameter;
    const double by = at == 0 ? kSmallStep : kSmallStep * std::abs(at);
    const std::optional<Numbers> aside = predict_(at + by);
    if (!aside || aside->size() != best_->candidate.size()) return false;
    double down = 0, slopes = 0;
    for (size_t i = 0; i < aside->size(); ++i) {
      if (!seen_.is_in(Observation::Part::fitted, i)) continue;
      const double slope = ((*aside)[i] - best_->candidate[i]) / by / weight(i);
      const double left = (seen_.given()[i] - best_->candidate[i]) / weight(i);
      if (!std::isfinite(slope) || !std::isfinite(left)) continue;
      down += slope * left;
      slopes += slope * slope;
    }
    if (slopes == 0) return false;
    double step = down / slopes;
    for (int i = 0; i < kMostHalvings; ++i, step /= 2) {
      if (std::abs(step) <= kEnd * std::abs(at)) return false;
      if (consider(at + step)) return true;
    }
    return false;
  }

  // Whole numbers have no slope: nearer and nearer numbers on both sides.
  void search() {
    for (int percent = -kWidest; percent <= kWidest; ++percent) consider(best_->parameter * (1 + percent / 100.0));
    for (double by = 5e-3; by > kSmallStep / 10; by /= 2) {
      while (consider(best_->parameter * (1 + by)) || consider(best_->parameter * (1 - by))) {
      }
    }
    const double middle = (furthest_as_good(1) + furthest_as_good(-1)) / 2;
    if (std::optional<Numbers> candidate = predict_(middle); candidate && loss(*candidate) <= loss_)
      best_ = Fitted{middle, std::move(*candidate)};
  }

  double furthest_as_good(double side) const {
    double found = best_->parameter;
    for (double by = 5e-3; by > kSmallStep / 10; by /= 2) {
      const double next = found * (1 + side * by);
      const std::optional<Numbers> candidate = predict_(next);
      if (candidate && loss(*candidate) <= loss_) found = next;
    }
    return found;
  }

  void shorten() {
    const Fitted longest = *best_;
    const double may = std::max(kAsGood * loss_, kGood / 16);
    for (int digits = 0; digits <= kMostDigits; ++digits) {
      const double shorter =
          digits == 0 ? 0 : std::strtod(fmt::format("{:.{}g}", longest.parameter, digits).c_str(), nullptr);
      std::optional<Numbers> candidate = predict_(shorter);
      if (!candidate || !(loss(*candidate) <= may)) continue;
      best_ = Fitted{shorter, std::move(*candidate)};
      return;
    }
  }

  const Observation& seen_;
  const Predictor& predict_;
  std::optional<Fitted> best_;
  double loss_ = INFINITY;
};

}  // namespace

std::optional<Fitted> fit(const Observation& seen, const std::vector<double>& starts, const Predictor& predict) {
  return Fit(seen, predict).run(starts);
}

std::vector<double> starts_around(double number) {
  std::vector<double> starts = {0};
  if (!std::isfinite(number) || number == 0) {
    starts.insert(starts.end(), {1e-6, 1e-3, 1, -1, 1e3, -1e3});
    return starts;
  }
  starts.push_back(number);
  starts.push_back(-number);
  for (const double times : {10.0, 1e2, 1e3, 1e4}) starts.insert(starts.end(), {number * times, number / times});
  return starts;
}

}  // namespace assay::debug
