#include "engine/devices/cpu/winograd/trial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "base/parallel.h"
#include "engine/devices/cpu/rows/row_kernels.h"
#include "engine/devices/cpu/winograd/term_products.h"
#include "engine/devices/cpu/winograd/weights.h"

namespace assay::engine::cpu {
namespace {

constexpr size_t kWindow = 3;
constexpr size_t kTaps = kWindow * kWindow;
constexpr size_t kTiles = 16;
constexpr float kLarge = 20;  // times the other channels
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A row of the output channels that are tried.
using Row = std::array<float, kWinogradChannels>;
using Sums = std::array<double, kWinogradChannels>;

// Float32, or the bits of bfloat16.
void convert(const std::vector<float>& from, std::vector<float>& to) { to = from; }
void convert(const std::vector<float>& from, std::vector<uint16_t>& to) {
  row_kernels().narrow(from.data(), to.data(), from.size());
}
void convert(const std::vector<uint16_t>& from, std::vector<float>& to) {
  row_kernels().widen(from.data(), to.data(), from.size());
}

template <typename Number>
std::vector<float> rounded(const std::vector<float>& numbers) {
  std::vector<Number> narrow(numbers.size());
  std::vector<float> made(numbers.size());
  convert(numbers, narrow);
  convert(narrow, made);
  return made;
}

// The share of the largest weight of an output channel, in squares.
double peak(const tensor::Tensor& weights, int64_t out_channel) {
  const int64_t channels = weights.shape()[1];
  double greatest = 0;
  double sum = 0;
  for (int64_t c = 0; c < channels; ++c) {
    for (const float weight : window_of(weights.dtype(), weights.bytes().data(), out_channel * channels + c)) {
      const double square = double{weight} * double{weight};
      greatest = std::max(greatest, square);
      sum += square;
    }
  }
  if (sum == 0) return 0;
  return std::isfinite(sum) ? greatest / sum : kInfinity;
}

std::vector<int64_t> least_even_channels(const tensor::Tensor& weights) {
  std::vector<double> peaks(static_cast<size_t>(weights.shape()[0]));
  parallel_for(peaks.size(), 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) peaks[i] = peak(weights, static_cast<int64_t>(i));
  });
  std::vector<int64_t> order(peaks.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](int64_t i) { return peaks[static_cast<size_t>(i)]; });
  order.resize(std::min(order.size(), kWinogradChannels));
  return order;
}

// A tile of pixels, [side][side][channel], of channels of these scales.
std::vector<float> drawn_pixels(std::mt19937& random, size_t places, const std::vector<float>& scales) {
  std::normal_distribution<float> number;
  std::vector<float> pixels;
  for (size_t i = 0; i < places; ++i) {
    for (const float scale : scales) pixels.push_back(std::max(0.0F, number(random)) * scale);
  }
  return pixels;
}

void worsen(double error, double& worst) { worst = std::isnan(error) ? kInfinity : std::max(worst, error); }

// A form with some of a layer's weights.
template <typename Number>
class Trial {
 public:
  Trial(const WinogradForm& form, const WinogradLoopsOf<Number>& loops, const tensor::Tensor& weights)
      : form_(form),
        loops_(loops),
        channels_(static_cast<size_t>(weights.shape()[1])),
        chain_(TermProducts::chain_of(weights.shape()[1])),
        taps_(kTaps * channels_),
        terms_(form.terms() * channels_) {
    const std::vector<int64_t> chosen = least_even_channels(weights);
    std::vector<float> terms(form.terms());
    for (size_t n = 0; n < chosen.size(); ++n) {
      for (size_t c = 0; c < channels_; ++c) {
        const int64_t number = chosen[n] * weights.shape()[1] + static_cast<int64_t>(c);
        const std::array<float, kTaps> window = window_of(weights.dtype(), weights.bytes().data(), number);
        for (size_t i = 0; i < kTaps; ++i) taps_[i * channels_ + c][n] = window[i];
        const WinogradTerms exact = winograd_weights(form, window.data());
        std::copy_n(exact.begin(), terms.size(), terms.begin());
        const std::vector<float> made = rounded<Number>(terms);
        for (size_t i = 0; i < made.size(); ++i) terms_[i * channels_ + c][n] = made[i];
      }
    }
  }

  // On the tile of that number. In most, two of the channels are much larger than the others.
  WinogradErrors errors(size_t tile) const {
    std::mt19937 random(static_cast<unsigned>(tile));  // plans must not depend on chance
    std::vector<float> scales(channels_, 1);
    if (tile % 4 != 0) scales[random() % channels_] = scales[random() % channels_] = kLarge;
    const std::vector<float> pixels = rounded<Number>(drawn_pixels(random, form_.terms(), scales));
    const std::vector<float> results = transformed(pixels);
    const Sums mean = mean_squares(scales);
    WinogradErrors worst;
    for (size_t i = 0; i < form_.out * form_.out; ++i) {
      Sums exact{};
      Sums squares{};
      direct(pixels, i, exact, squares);
      for (size_t n = 0; n < exact.size(); ++n) {
        const double error = std::abs(exact[n] - double{results[i * kWinogradChannels + n]});
        if (error == 0) continue;
        worsen(error / allowed(squares[n], mean[n]), worst.of_allowed);
        worsen(error / std::sqrt(mean[n]), worst.of_rms);
      }
    }
    return worst;
  }

 private:
  // Twelve deviations of runs whose inputs are moved (analysis/sample_allowances.cpp), less what the result itself is
  // moved by.
  double allowed(double squares, double mean) const {
    constexpr double kRoundoff = 0x1p-24;
    const auto count = static_cast<double>(kTaps * channels_);
    return 12 * kRoundoff * std::sqrt(count / 3 * (7 * squares + 4 * mean) / 11);
  }

  // The expected sums of the products of a result.
  Sums mean_squares(const std::vector<float>& scales) const {
    constexpr double kOfPixels = 0.5;  // share that ReLU leaves
    Sums sums{};
    for (size_t i = 0; i < taps_.size(); ++i) {
      const double scale = scales[i % channels_];
      for (size_t n = 0; n < sums.size(); ++n)
        sums[n] += kOfPixels * scale * scale * double{taps_[i][n]} * double{taps_[i][n]};
    }
    return sums;
  }

  // A result, and the squares of its products.
  void direct(const std::vector<float>& pixels, size_t result, Sums& sums, Sums& squares) const {
    for (size_t tap = 0; tap < kTaps; ++tap) {
      const size_t y = result / form_.out * form_.stride + tap / kWindow;
      const size_t x = result % form_.out * form_.stride + tap % kWindow;
      const float* const pixel = pixels.data() + (y * form_.side + x) * channels_;
      for (size_t c = 0; c < channels_; ++c) {
        const Row& taps = taps_[tap * channels_ + c];
        for (size_t n = 0; n < sums.size(); ++n) {
          const double product = double{pixel[c]} * double{taps[n]};
          sums[n] += product;
          squares[n] += product * product;
        }
      }
    }
  }

  // The product in the order in which TermProducts adds up.
  Row product(const float* left, const Row* right) const {
    const size_t chain = std::is_same_v<Number, float> ? chain_ : channels_;
    Row ended{};
    for (size_t begin = 0; begin < channels_; begin += chain) {
      Row sums{};
      for (size_t c = begin; c < std::min(begin + chain, channels_); ++c) {
        for (size_t n = 0; n < sums.size(); ++n) sums[n] += left[c] * right[c][n];
      }
      for (size_t n = 0; n < sums.size(); ++n) ended[n] += sums[n];
    }
    return ended;
  }

  // The results as the form computes them, [out][out][kWinogradChannels].
  std::vector<float> transformed(const std::vector<float>& tile) const {
    std::vector<Number> pixels(tile.size()), narrow_terms(tile.size());
    convert(tile, pixels);
    std::vector<const Number*> in;
    for (size_t i = 0; i < form_.terms(); ++i) in.push_back(pixels.data() + i * channels_);
    loops_.in(in.data(), narrow_terms.data(), channels_, channels_);
    std::vector<float> terms(tile.size());
    convert(narrow_terms, terms);
    std::vector<Row> products(form_.terms());
    for (size_t i = 0; i < products.size(); ++i)
      products[i] = product(terms.data() + i * channels_, terms_.data() + i * channels_);
    std::vector<Number> results(form_.out * form_.out * kWinogradChannels);
    std::vector<Number*> out;
    for (size_t i = 0; i < form_.out * form_.out; ++i) out.push_back(results.data() + i * kWinogradChannels);
    loops_.out(products[0].data(), kWinogradChannels, nullptr, out.data(), kWinogradChannels);
    std::vector<float> made(results.size());
    convert(results, made);
    return made;
  }

  const WinogradForm& form_;
  const WinogradLoopsOf<Number>& loops_;
  size_t channels_;
  size_t chain_;
  std::vector<Row> taps_;   // [tap][channel]
  std::vector<Row> terms_;  // [term][channel]
};

template <typename Number>
WinogradErrors greatest_errors(const Trial<Number>& trial) {
  std::array<WinogradErrors, kTiles> found;
  parallel_for(kTiles, 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) found[i] = trial.errors(i);
  });
  WinogradErrors worst;
  for (const WinogradErrors& errors : found) {
    worsen(errors.of_allowed, worst.of_allowed);
    worsen(errors.of_rms, worst.of_rms);
  }
  return worst;
}

}  // namespace

double kurtosis(const tensor::Tensor& weights) {
  struct Moments {
    double squares = 0, fourths = 0;
  };
  const auto add_windows = [&](uint64_t begin, uint64_t end) {
    Moments sums;
    for (uint64_t i = begin; i < end; ++i) {
      for (const float weight : window_of(weights.dtype(), weights.bytes().data(), static_cast<int64_t>(i))) {
        const double square = double{weight} * double{weight};
        sums.squares += square;
        sums.fourths += square * square;
      }
    }
    return sums;
  };
  const auto join = [](const Moments& a, const Moments& b) {
    return Moments{a.squares + b.squares, a.fourths + b.fourths};
  };
  const Moments sums = parallel_reduce(weights.count() / kTaps, 4096, Moments(), add_windows, join);
  return sums.squares == 0 ? 0 : static_cast<double>(weights.count()) * (sums.fourths / sums.squares) / sums.squares;
}

WinogradErrors winograd_errors(const WinogradForm& form, const tensor::Tensor& weights) {
  const bool is_half = weights.dtype() == tensor::DType::bfloat16;
  if (is_half) return greatest_errors(Trial<uint16_t>(form, (*winograd_half_loops())[form.index], weights));
  return greatest_errors(Trial<float>(form, winograd_transforms().loops[form.index], weights));
}

}  // namespace assay::engine::cpu
