#include "compare/measuring/quantile_guess.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "base/parallel.h"
#include "compare/measuring/selection.h"

namespace assay::compare {
namespace {

constexpr uint64_t kLeastCount = uint64_t{1} << 20;  // fewer elements are soon searched without a guess
constexpr uint64_t kLeastSample = uint64_t{1} << 14;
constexpr uint64_t kMostSample = uint64_t{1} << 18;
constexpr uint64_t kOfTile = 64;  // elements of the sample that one tile gives
constexpr uint64_t kStep = kTile / kOfTile;

using Samples = std::array<std::vector<float>, kMostSeries>;

// Tiles at random distances, which no period of the elements meets.
uint64_t tile_of_sample(uint64_t number, uint64_t step) {
  const uint64_t mixed = (number + 1) * 0x9e3779b97f4a7c15U;
  return number * step + (mixed >> 32) % step;
}

void take_some(const double* from, float* to) {
  for (uint64_t i = 0; i < kOfTile; ++i) to[i] = code_of(from[i * kStep]);
}

Samples sample(const TileSource& source, const std::array<bool, kMostSeries>& wanted, uint64_t size) {
  const uint64_t full_tiles = source.count / kTile;
  const uint64_t tiles = std::min(full_tiles, size / kOfTile);
  Samples samples;
  for (size_t s = 0; s < kMostSeries; ++s) samples[s].resize(wanted[s] ? tiles * kOfTile : 0);
  parallel_for(tiles, 64, [&](uint64_t begin, uint64_t end) {
    const std::unique_ptr<Tile> tile = std::make_unique<Tile>();
    for (uint64_t number = begin; number < end; ++number) {
      source.load(tile_of_sample(number, full_tiles / tiles), *tile);
      for (size_t s = 0; s < kMostSeries; ++s) {
        if (wanted[s]) take_some(tile->series[s] + number % kStep, samples[s].data() + number * kOfTile);
      }
    }
  });
  for (std::vector<float>& codes : samples) std::erase_if(codes, [](float x) { return std::isnan(x); });
  return samples;
}

// The places that a quantile lies between, and how far from the first.
struct Between {
  uint64_t first = 0;
  uint64_t last = 0;
  double share = 0;
};

Between places_of(double quantile, uint64_t count) {
  const double place = quantile * (static_cast<double>(count) - 1);
  const uint64_t first = std::min(static_cast<uint64_t>(place), count - 1);
  return {first, std::min(first + 1, count - 1), place - std::floor(place)};
}

std::vector<uint64_t> places_of(const std::vector<double>& quantiles, uint64_t count) {
  std::vector<uint64_t> places;
  for (const double quantile : quantiles) {
    const Between between = places_of(quantile, count);
    places.insert(places.end(), {between.first, between.last});
  }
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

using Codes = std::map<uint64_t, float>;  // by place

std::optional<double> number_at(uint64_t place, const Codes& codes, const std::vector<CodeGroup>& groups) {
  const auto found = codes.find(place);
  if (found == codes.end()) return std::nullopt;
  const auto group = std::ranges::find_if(groups, [&](const CodeGroup& one) { return one.code() == found->second; });
  return group == groups.end() ? found->second : group->at(place);
}

}  // namespace

bool has_exact_codes(const tensor::Tensor& tensor) {
  constexpr uint32_t kMostBits = 16;  // of an integer; all floating types of fewer bits than 64 are float32
  if (tensor::kind(tensor.dtype()) == tensor::DTypeKind::complex) return false;
  return tensor::bit_width(tensor.dtype()) <= (tensor::is_floating(tensor.dtype()) ? 32 : kMostBits);
}

QuantileGuess::QuantileGuess(const TileSource& source, const std::vector<std::vector<double>>& wanted)
    : count_(source.count), piece_tiles_(tiles_a_piece(source.tile_count())), wanted_(wanted) {
  std::array<bool, kMostSeries> is_wanted = {};
  for (size_t s = 0; s < wanted.size(); ++s) is_wanted[s] = !wanted[s].empty();
  if (source.count < kLeastCount || std::ranges::none_of(is_wanted, std::identity())) return;
  const Samples samples = sample(source, is_wanted, std::clamp(source.count / 256, kLeastSample, kMostSample));
  const Pieces pieces = {piece_tiles_, (source.tile_count() + piece_tiles_ - 1) / piece_tiles_};
  series_.resize(kMostSeries);
  parallel_for(kMostSeries, 1, [&](uint64_t s, uint64_t) {
    if (samples[s].empty() || !is_wanted[s]) return;
    series_[s] = SeriesGuess(samples[s], kOfTile, count_, places_of(wanted[s], count_), pieces);
  });
}

void QuantileGuess::add(const TileCodes& codes, uint64_t number) {
  for (size_t s = 0; s < kMostSeries; ++s) {
    series_[s].add(codes.of[s], codes.is_exact[s], number / piece_tiles_);
  }
}

std::vector<std::vector<std::optional<double>>> QuantileGuess::find(const TileSource& source) const {
  std::array<Codes, kMostSeries> codes;
  CodeGroups groups;
  parallel_for(kMostSeries, 1, [&](uint64_t s, uint64_t) {
    codes[s] = series_[s].codes();
    groups[s] = series_[s].groups(codes[s]);
  });
  load_groups(source, groups);
  std::vector<std::vector<std::optional<double>>> found(wanted_.size());
  for (size_t s = 0; s < wanted_.size(); ++s) {
    for (const double quantile : wanted_[s]) {
      const Between between = places_of(quantile, count_);
      const std::optional<double> low = number_at(between.first, codes[s], groups[s]);
      const std::optional<double> high = number_at(between.last, codes[s], groups[s]);
      found[s].push_back(low && high ? std::optional(interpolate(*low, *high, between.share)) : std::nullopt);
    }
  }
  return found;
}

std::vector<std::vector<double>> find_quantiles(const TileSource& source, const QuantileGuess& guess,
                                                const std::vector<std::vector<double>>& wanted) {
  if (guess.is_empty()) return quantiles(source, wanted);
  const std::vector<std::vector<std::optional<double>>> guessed = guess.find(source);
  std::vector<std::vector<double>> open(wanted.size());
  for (size_t s = 0; s < wanted.size(); ++s) {
    for (size_t i = 0; i < wanted[s].size(); ++i) {
      if (!guessed[s][i]) open[s].push_back(wanted[s][i]);
    }
  }
  const bool is_done = std::ranges::all_of(open, &std::vector<double>::empty);
  std::vector<std::vector<double>> found = is_done ? open : quantiles(source, open);
  for (size_t s = 0; s < wanted.size(); ++s) {
    for (size_t i = 0; i < wanted[s].size(); ++i) {
      if (guessed[s][i]) found[s].insert(found[s].begin() + static_cast<ptrdiff_t>(i), *guessed[s][i]);
    }
  }
  return found;
}

}  // namespace assay::compare
