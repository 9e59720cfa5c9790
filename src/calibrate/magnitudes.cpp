#include "calibrate/magnitudes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "base/parallel.h"

namespace assay::calibrate {
namespace {

// The greatest magnitude, by bits, of finite float32 numbers at any address.
uint32_t largest_bits(tensor::Bytes floats) {
  constexpr uint32_t kSign = 0x80000000;
  constexpr uint32_t kInfinity = 0x7f800000;
  constexpr size_t kBlock = 1024;
  std::array<uint32_t, kBlock> block{};
  uint32_t largest = 0;
  for (size_t at = 0; at < floats.size(); at += sizeof block) {
    const tensor::Bytes piece = floats.subspan(at, std::min(sizeof block, floats.size() - at));
    if (piece.size() < sizeof block) block = {};
    std::memcpy(block.data(), piece.data(), piece.size());
    for (const uint32_t bits : block) {
      const uint32_t magnitude = bits & ~kSign;
      largest = std::max(largest, magnitude < kInfinity ? magnitude : 0);
    }
  }
  return largest;
}

class MagnitudeWatcher final : public exec::DriveWatcher {
 public:
  void on_feeds(size_t, uint64_t, const tensor::NamedData& feeds) override {
    for (const tensor::NamedDatum& feed : feeds) look(feed.name, feed.value);
  }
  void on_value(size_t, uint64_t, std::string_view name, const tensor::Datum& value) override { look(name, value); }
  void on_failure(size_t, const Error& error) override { failure_ = error; }
  bool wants_stop() const override { return false; }

  Magnitudes take() {
    if (failure_) throw Error(*failure_);
    return std::move(magnitudes_);
  }

 private:
  void look(std::string_view name, const tensor::Datum& value) {
    if (!value.is_tensor() || value.tensor().dtype() != tensor::DType::float32) return;
    const float largest = largest_finite(value.tensor().bytes());
    float& known = magnitudes_[std::string(name)];
    known = std::max(known, largest);
  }

  Magnitudes magnitudes_;
  std::optional<Error> failure_;
};

}  // namespace

float largest_finite(tensor::Bytes floats) {
  constexpr uint64_t kGrain = uint64_t{1} << 16;
  const auto look = [&](uint64_t begin, uint64_t end) {
    return largest_bits(floats.subspan(begin * sizeof(float), (end - begin) * sizeof(float)));
  };
  const auto combine = [](uint32_t a, uint32_t b) { return std::max(a, b); };
  return std::bit_cast<float>(parallel_reduce(floats.size() / sizeof(float), kGrain, uint32_t{0}, look, combine));
}

Magnitudes measure_magnitudes(const exec::RunnerPtr& runner, exec::DataSource& source, const exec::TapPlan& taps,
                              Diagnostics& findings) {
  MagnitudeWatcher watcher;
  exec::DrivePlan plan;
  plan.taps = taps;
  exec::drive({&runner, 1}, &source, plan, watcher, findings);
  return watcher.take();
}

}  // namespace assay::calibrate
