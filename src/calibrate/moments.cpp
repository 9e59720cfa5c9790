#include "calibrate/moments.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "base/parallel.h"

namespace assay::calibrate {
namespace {

class MomentWatcher final : public exec::DriveWatcher {
 public:
  explicit MomentWatcher(const std::vector<std::string>& names) : names_(names.begin(), names.end()) {}

  void on_feeds(size_t, uint64_t, const tensor::NamedData& feeds) override {
    for (const tensor::NamedDatum& feed : feeds) look(feed.name, feed.value);
  }
  void on_value(size_t, uint64_t, std::string_view name, const tensor::Datum& value) override {
    look(std::string(name), value);
  }
  void on_failure(size_t, const Error& error) override { failure_ = error; }
  bool wants_stop() const override { return false; }

  std::map<std::string, Moments> take() {
    if (failure_) throw Error(*failure_);
    for (auto& [name, moments] : moments_) shrink(moments);
    return std::move(moments_);
  }

 private:
  // Counts as many more rows as there are elements, in which no two go together.
  static void shrink(Moments& moments) {
    const double share = static_cast<double>(moments.rows) / static_cast<double>(moments.rows + moments.size);
    for (uint64_t i = 0; i < moments.size; ++i) {
      for (uint64_t j = 0; j < moments.size; ++j) moments.products[i * moments.size + j] *= i == j ? 1 : share;
    }
  }

  void look(const std::string& name, const tensor::Datum& value) {
    if (!names_.contains(name) || !value.is_tensor() || value.tensor().dtype() != tensor::DType::float32) return;
    const tensor::Tensor& tensor = value.tensor();
    if (tensor.shape().empty() || tensor.count() == 0) return;
    Moments& moments = moments_[name];
    const auto size = static_cast<uint64_t>(tensor.shape().back());
    if (moments.size == 0) {
      moments.size = size;
      moments.products.resize(size * size);
      moments.sums.resize(size);
    }
    if (moments.size == size) add(tensor, moments);
  }

  // Each row of the products is summed by one thread, in order.
  static void add(const tensor::Tensor& tensor, Moments& moments) {
    constexpr uint64_t kGrain = 8;
    constexpr uint64_t kLanes = 8;
    const uint64_t size = moments.size;
    const uint64_t rows = tensor.count() / size;
    std::vector<float> numbers(tensor.count());
    std::memcpy(numbers.data(), tensor.bytes().data(), numbers.size() * sizeof(float));
    for (float& number : numbers) number = std::isfinite(number) ? number : 0;
    parallel_for(size, kGrain, [&](uint64_t begin, uint64_t end) {
      for (uint64_t row = 0; row < rows; ++row) {
        const float* const x = numbers.data() + row * size;
        for (uint64_t i = begin; i < end; ++i) {
          double* const sums = moments.products.data() + i * size;
          const double factor = x[i];
          moments.sums[i] += factor;
          uint64_t j = 0;
          for (; j + kLanes <= size; j += kLanes) {
            for (uint64_t lane = 0; lane < kLanes; ++lane) sums[j + lane] += factor * x[j + lane];
          }
          for (; j < size; ++j) sums[j] += factor * x[j];
        }
      }
    });
    moments.rows += rows;
  }

  std::set<std::string> names_;
  std::map<std::string, Moments> moments_;
  std::optional<Error> failure_;
};

// The share of a spread that is more than chance.
double kept_share(double chance, double spread) { return spread > chance ? 1 - chance / spread : 0; }

// Draws squares towards their mean. Those of normal numbers spread by twice their own square.
void draw_together(std::vector<double>& squares, double rows) {
  constexpr double kSpread = 2;
  double mean = 0;
  for (const double square : squares) mean += square / static_cast<double>(squares.size());
  if (mean == 0) return;
  double spread = 0;
  for (const double square : squares) spread += (square / mean - 1) * (square / mean - 1);
  const double kept = kept_share(kSpread / rows * static_cast<double>(squares.size()), spread);
  for (double& square : squares) square = mean + kept * (square - mean);
}

}  // namespace

ElementMeans element_means(const Moments& moments) {
  const auto rows = static_cast<double>(moments.rows);
  ElementMeans made;
  double spread = 0;
  double chance = 0;
  for (uint64_t i = 0; i < moments.size; ++i) {
    const double mean = moments.sums[i] / rows;
    const double square = moments.products[i * moments.size + i] / rows;
    made.means.push_back(mean);
    made.squares.push_back(square);
    spread += mean * mean;
    chance += (square - mean * mean) / rows;
  }
  for (double& mean : made.means) mean *= kept_share(chance, spread);
  draw_together(made.squares, rows);
  return made;
}

std::map<std::string, Moments> measure_moments(const exec::RunnerPtr& runner, exec::DataSource& source,
                                               const exec::TapPlan& taps, const std::vector<std::string>& names,
                                               Diagnostics& findings) {
  MomentWatcher watcher(names);
  exec::DrivePlan plan;
  plan.taps = taps;
  exec::drive({&runner, 1}, &source, plan, watcher, findings);
  return watcher.take();
}

}  // namespace assay::calibrate
