#include "engine/devices/cpu/pools/maximum_places.h"

#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/pools/place_table.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kPlacesGrain = 1 << 14;  // comparisons that a thread is worth its while for

// The result of windows that see only padding.
float least_number(tensor::DType dtype) {
  if (dtype == tensor::DType::int8) return std::numeric_limits<int8_t>::lowest();
  return dtype == tensor::DType::uint8 ? 0 : -std::numeric_limits<float>::infinity();
}

// Channels innermost: those of a pixel are compared together.
class PlacesOfPixels final : public PlainKernel {
 public:
  PlacesOfPixels(const PoolForm& geometry, tensor::DType dtype, bool is_column_major)
      : g_(geometry), dtype_(dtype), table_(geometry, is_column_major) {}

  void run(const Arguments& arguments) const override {
    const int64_t work = g_.channels * g_.kernel_height * g_.kernel_width;
    const auto grain = static_cast<uint64_t>(kPlacesGrain / work + 1);
    const int64_t pixels = g_.batch * g_.out_height * g_.out_width;
    parallel_for(static_cast<uint64_t>(pixels), grain, [&](uint64_t begin, uint64_t end) {
      for (auto pixel = static_cast<int64_t>(begin); pixel < static_cast<int64_t>(end); ++pixel) {
        for (int64_t channel = 0; channel < g_.channels; channel += kTile)
          pool(arguments, pixel, channel, std::min(kTile, g_.channels - channel));
      }
    });
  }

 private:
  static constexpr int64_t kTile = 512;  // channels at once

  // Some channels of one pixel of the result.
  void pool(const Arguments& arguments, int64_t pixel, int64_t channel, int64_t channels) const {
    const auto count = static_cast<size_t>(channels);
    const int64_t image = pixel / (g_.out_height * g_.out_width);
    const int64_t y = pixel / g_.out_width % g_.out_height;
    const int64_t x = pixel % g_.out_width;
    float tile[kTile];
    int32_t places[kTile];
    const int64_t at = pixel * g_.channels + channel;
    std::byte* const out = host<std::byte>(arguments.outputs[0]) + at * float_bytes(dtype_);
    float* const kept = place_floats(dtype_, out, tile);
    std::fill_n(kept, count, least_number(dtype_));
    std::fill_n(places, count, table_.first(y, x));
    const int64_t first = image * g_.height * g_.width * g_.channels + channel;
    compare(host<const std::byte>(arguments.inputs[0]) + first * float_bytes(dtype_), y, x, kept, places, count);
    write_floats(dtype_, kept, out, count);
    int64_t* const indices = host<int64_t>(arguments.outputs[1]) + at;
    const int64_t plane = g_.height * g_.width;
    for (int64_t c = 0; c < channels; ++c)
      indices[c] = (image * g_.channels + channel + c) * plane + table_.index(y, x, places[c]);
  }

  void compare(const std::byte* picture, int64_t y, int64_t x, float* kept, int32_t* places, size_t count) const {
    float read[kTile];
    int32_t place = 0;
    for (int64_t ky = 0; ky < g_.kernel_height; ++ky) {
      const int64_t in_y = y * g_.stride_y - g_.pad_top + ky * g_.dilation_y;
      for (int64_t kx = 0; kx < g_.kernel_width; ++kx, ++place) {
        const int64_t in_x = x * g_.stride_x - g_.pad_left + kx * g_.dilation_x;
        if (in_y < 0 || in_y >= g_.height || in_x < 0 || in_x >= g_.width) continue;
        const std::byte* const from = picture + (in_y * g_.width + in_x) * g_.channels * float_bytes(dtype_);
        row_kernels().keep_places(read_floats(dtype_, from, read, count), 1, place, false, kept, places, count);
      }
    }
  }

  PoolForm g_;
  tensor::DType dtype_;
  PlaceTable table_;
};

// The elements of an axis that the places of windows read. Elements that are a stride apart lie side by side in a
// *slot*; a window reads each of its places in one slot, a few elements behind its own number.
struct SlottedAxis {
  struct Place {
    int64_t slot, shift;
  };
  std::vector<int64_t> starts;  // of slots: their first elements, counted from the padding's
  std::vector<Place> places;
  int64_t reach = 0;  // the greatest shift

  SlottedAxis(int64_t kernel, int64_t stride, int64_t dilation) {
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t start = k * dilation % stride;
      const auto known = std::ranges::find(starts, start);
      places.push_back({known - starts.begin(), k * dilation / stride});
      if (known == starts.end()) starts.push_back(start);
      reach = places.back().shift;
    }
  }
  int64_t slots() const { return static_cast<int64_t>(starts.size()); }
};

// Planes: some lines of the result are compared together, as one row with `pitch_` elements for each line. Behind a
// line stand elements of no window, whose maxima nobody reads.
class PlacesOfPlanes final : public PlainKernel {
 public:
  PlacesOfPlanes(const PoolForm& geometry, tensor::DType dtype, bool is_column_major)
      : g_(geometry),
        dtype_(dtype),
        table_(geometry, is_column_major),
        down_(g_.kernel_height, g_.stride_y, g_.dilation_y),
        across_(g_.kernel_width, g_.stride_x, g_.dilation_x),
        pitch_(g_.out_width + across_.reach) {
    const int64_t of_line = pitch_ * (down_.slots() * across_.slots() + 2);
    lines_ = std::clamp<int64_t>(kHotElements / of_line, 1, g_.out_height);
    blocks_ = parts_of(g_.out_height, lines_);
    const int64_t work = lines_ * pitch_ * g_.kernel_height * g_.kernel_width;
    lanes_ = std::clamp<int64_t>(units() * work / kPlacesGrain, 1, std::min<int64_t>(thread_count(), units()));
  }

  uint64_t workspace_bytes() const override { return static_cast<uint64_t>(lane_elements() * lanes_) * sizeof(float); }

  void run(const Arguments& arguments) const override {
    parallel_for(static_cast<uint64_t>(lanes_), 1, [&](uint64_t begin, uint64_t end) {
      for (auto lane = static_cast<int64_t>(begin); lane < static_cast<int64_t>(end); ++lane) {
        float* const memory = host<float>(arguments.workspace) + lane * lane_elements();
        const auto [first, last] = lane_of(units(), lanes_, lane);
        for (int64_t unit = first; unit < last; ++unit) run_block(arguments, unit, memory);
      }
    });
  }

 private:
  static constexpr int64_t kHotElements = 1 << 13;  // stay in the first cache

  // Lines of one plane of the result.
  struct Block {
    int64_t plane, first, lines;
  };

  int64_t units() const { return g_.batch * g_.channels * blocks_; }
  int64_t slot_lines() const { return lines_ + down_.reach; }
  int64_t slot_elements() const { return slot_lines() * pitch_; }
  int64_t block_elements() const { return lines_ * pitch_; }
  // Slots, the greatest elements, their places, and a line of the picture.
  int64_t lane_elements() const {
    return rounded_up(down_.slots() * across_.slots() * slot_elements() + 2 * block_elements() + g_.width, 16);
  }

  void run_block(const Arguments& arguments, int64_t unit, float* slots) const {
    const int64_t first = unit % blocks_ * lines_;
    const Block block{unit / blocks_, first, std::min(lines_, g_.out_height - first)};
    float* const kept = slots + down_.slots() * across_.slots() * slot_elements();
    auto* const places = reinterpret_cast<int32_t*>(kept + block_elements());
    float* const line = kept + 2 * block_elements();
    const int64_t plane_bytes = g_.height * g_.width * float_bytes(dtype_);
    fill_slots(host<const std::byte>(arguments.inputs[0]) + block.plane * plane_bytes, block, line, slots);
    const auto count = static_cast<size_t>((block.lines - 1) * pitch_ + g_.out_width);
    std::fill_n(kept, count, least_number(dtype_));
    std::fill_n(places, count, PlaceTable::kNone);
    for (int64_t y = 0; y < block.lines; ++y) table_.find_first(block.first + y, places + y * pitch_);
    int32_t place = 0;
    for (const auto& [row_slot, row] : down_.places) {
      for (const auto& [column_slot, column] : across_.places) {
        const float* const x =
            slots + (row_slot * across_.slots() + column_slot) * slot_elements() + row * pitch_ + column;
        row_kernels().keep_places(x, 1, place++, false, kept, places, count);
      }
    }
    write(arguments, block, kept, places);
  }

  void fill_slots(const std::byte* plane, const Block& block, float* line, float* slots) const {
    for (const int64_t start : down_.starts) {
      for (int64_t i = 0; i < block.lines + down_.reach; ++i) {
        const int64_t y = (block.first + i) * g_.stride_y + start - g_.pad_top;
        const float* read = nullptr;
        if (y >= 0 && y < g_.height)
          read = read_floats(dtype_, plane + y * g_.width * float_bytes(dtype_), line, static_cast<size_t>(g_.width));
        for (size_t slot = 0; slot < across_.starts.size(); ++slot)
          fill_line(read, across_.starts[slot], slots + static_cast<int64_t>(slot) * slot_elements() + i * pitch_);
      }
      slots += across_.slots() * slot_elements();
    }
  }

  // A line of a slot; null: of padding.
  void fill_line(const float* line, int64_t start, float* out) const {
    const float least = least_number(dtype_);
    if (line == nullptr) return void(std::fill_n(out, pitch_, least));
    const int64_t skipped = start - g_.pad_left;  // place of its first element in the line
    const int64_t begin = std::min(pitch_, skipped >= 0 ? 0 : parts_of(-skipped, g_.stride_x));
    const int64_t end = std::clamp(parts_of(g_.width - skipped, g_.stride_x), begin, pitch_);
    std::fill(out, out + begin, least);
    take(line + skipped + begin * g_.stride_x, out + begin, end - begin);
    std::fill(out + end, out + pitch_, least);
  }

  void take(const float* from, float* out, int64_t count) const {
    if (g_.stride_x == 1) return void(std::copy_n(from, count, out));
    if (g_.stride_x == 2) {
      for (int64_t i = 0; i < count; ++i) out[i] = from[2 * i];
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = from[g_.stride_x * i];
    }
  }

  void write(const Arguments& arguments, const Block& block, const float* kept, const int32_t* places) const {
    const int64_t first_index = block.plane * g_.height * g_.width;
    for (int64_t y = 0; y < block.lines; ++y, kept += pitch_, places += pitch_) {
      const int64_t at = (block.plane * g_.out_height + block.first + y) * g_.out_width;
      store_floats(dtype_, kept, host<std::byte>(arguments.outputs[0]) + at * float_bytes(dtype_),
                   static_cast<size_t>(g_.out_width));
      table_.find_indices(block.first + y, places, first_index, host<int64_t>(arguments.outputs[1]) + at);
    }
  }

  PoolForm g_;
  tensor::DType dtype_;
  PlaceTable table_;
  SlottedAxis down_, across_;
  int64_t pitch_;
  int64_t lines_ = 1;  // of a block
  int64_t blocks_ = 1;
  int64_t lanes_ = 1;
};

// Elements that stand apart would take more memory in slots than is their due.
bool reaches_too_far(const PoolForm& g) {
  constexpr int64_t kLongest = 1 << 10;  // places of an axis
  constexpr double kMostElements = 1 << 22;
  const auto span = [](int64_t kernel, int64_t dilation) {
    return static_cast<double>(kernel) * static_cast<double>(dilation);
  };
  if (g.kernel_height > kLongest || g.kernel_width > kLongest) return true;
  const double width = static_cast<double>(g.out_width * g.kernel_width) + span(g.kernel_width, g.dilation_x);
  return width * (static_cast<double>(g.kernel_height) + span(g.kernel_height, g.dilation_y)) > kMostElements;
}

}  // namespace

std::unique_ptr<Kernel> make_maximum_places(const PoolForm& geometry, tensor::DType dtype, bool is_column_major,
                                            Layout layout) {
  if (reaches_too_far(geometry)) return {};
  if (layout == Layout::plain) return std::make_unique<PlacesOfPlanes>(geometry, dtype, is_column_major);
  return std::make_unique<PlacesOfPixels>(geometry, dtype, is_column_major);
}

}  // namespace assay::engine::cpu
