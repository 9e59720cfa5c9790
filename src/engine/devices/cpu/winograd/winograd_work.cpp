#include "engine/devices/cpu/winograd/winograd_work.h"

#include <algorithm>

namespace assay::engine::cpu {
namespace {

constexpr int64_t kBlock = 24;  // tiles: with fewer, the weights take longer to read than to use

}  // namespace

WinogradWork::WinogradWork(const ConvGeometry& geometry, const WinogradPlan& plan)
    : g_(geometry),
      tiles_(geometry, *plan.form),
      in_stages_(plan.in_stages),
      side_(static_cast<int64_t>(plan.form->side)),
      lanes_(thread_count()),
      block_(std::min(kBlock, tiles_.count)) {
  for (int64_t i = 0; i < side_ * side_; ++i) offsets_.push_back((i / side_ * g_.width + i % side_) * g_.channels);
}

void WinogradWork::run(int64_t panels, const Steps& steps) const {
  in_stages_ ? run_stages(panels, steps) : run_lanes(panels, steps);
}

void WinogradWork::for_lanes(FunctionRef<void(int64_t lane)> fn) const {
  parallel_for(static_cast<uint64_t>(lanes_), 1, [&](uint64_t first, uint64_t last) {
    for (auto lane = static_cast<int64_t>(first); lane < static_cast<int64_t>(last); ++lane) fn(lane);
  });
}

void WinogradWork::run_lanes(int64_t panels, const Steps& steps) const {
  for_lanes([&](int64_t lane) {
    const Lane share = lane_of(tiles_.count, lanes_, lane);
    const int64_t blocks = (share.end - share.begin + block_ - 1) / block_;
    for (int64_t i = 0; i < blocks; ++i) {
      const Lane part = lane_of(share.end - share.begin, blocks, i);
      const Lane tiles = {share.begin + part.begin, share.begin + part.end};
      steps.take_in(tiles, lane * block_);
      for (int64_t panel = 0; panel < panels; ++panel) steps.multiply({lane, tiles, panel, lane * block_});
      steps.end(tiles);
    }
  });
}

void WinogradWork::run_stages(int64_t panels, const Steps& steps) const {
  const int64_t blocks = (tiles_.count + block_ - 1) / block_;
  for_lanes([&](int64_t lane) {
    const Lane share = lane_of(tiles_.count, lanes_, lane);
    steps.take_in(share, share.begin);
  });
  for_lanes([&](int64_t lane) {
    const Lane share = lane_of(panels * blocks, lanes_, lane);
    for (int64_t i = share.begin; i < share.end; ++i) {
      const Lane tiles = lane_of(tiles_.count, blocks, i % blocks);
      steps.multiply({lane, tiles, i / blocks, tiles.begin});
    }
  });
}

}  // namespace assay::engine::cpu
