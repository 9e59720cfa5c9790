#include "engine/devices/cpu/pools/maximum_pool.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kHotBytes = int64_t{192} * 1024;  // of a lane's rows, which stay in the second cache
constexpr int64_t kLeastTile = 64;                  // channels
constexpr int64_t kGrain = 1 << 15;                 // elements that a thread is worth its while for

void find_maxima(const float* const* x, size_t rows, float* out, size_t count) {
  row_kernels().maxima(x, rows, out, count);
}
void find_maxima(const int8_t* const* x, size_t rows, int8_t* out, size_t count) {
  row_kernels().maxima_signed(x, rows, out, count);
}
void find_maxima(const uint8_t* const* x, size_t rows, uint8_t* out, size_t count) {
  row_kernels().maxima_unsigned(x, rows, out, count);
}

template <typename T>
constexpr T kLeast =
    std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();

// The greatest of each row of a window first, then the greatest of those: a line of the picture is read once, and its
// maxima are kept for all windows that reach it. Of equal numbers the first one stays, and the last of those that are
// no numbers, as if windows were read from one end to the other.
// T: float, or the codes themselves.
template <typename T>
class MaximumPool final : public PlainKernel {
 public:
  MaximumPool(const PoolForm& geometry, tensor::DType dtype) : g_(geometry), dtype_(dtype) {
    tile_ = g_.channels;
    while (lane_bytes() > kHotBytes && tile_ > kLeastTile) tile_ = rounded_up(parts_of(tile_, 2), kLeastTile);
    tiles_ = parts_of(g_.channels, tile_);
    const int64_t work = g_.batch * g_.out_height * g_.out_width * g_.channels * (g_.kernel_height + g_.kernel_width);
    lanes_ = std::clamp<int64_t>(work / kGrain, 1, std::min<int64_t>(thread_count(), lines()));
  }

  uint64_t workspace_bytes() const override { return static_cast<uint64_t>(lane_bytes() * lanes_); }

  void run(const Arguments& arguments) const override {
    parallel_for(static_cast<uint64_t>(lanes_), 1, [&](uint64_t begin, uint64_t end) {
      for (auto lane = static_cast<int64_t>(begin); lane < static_cast<int64_t>(end); ++lane) {
        T* const memory = host<T>(arguments.workspace + static_cast<uint64_t>(lane * lane_bytes()));
        Work work{.memory = memory, .pointers = {}};
        work.pointers.resize(static_cast<size_t>(std::max(g_.kernel_height, g_.kernel_width)));
        const auto [first, last] = lane_of(lines(), lanes_, lane);
        for (int64_t line = first; line < last; ++line) run_line(arguments, line, work);
      }
    });
  }

 private:
  // The work of a lane: its memory, and the picture's lines whose maxima are there.
  struct Work {
    T* memory;
    std::vector<const T*> pointers;
    int64_t picture = -1;  // tile of channels of an image
    int64_t done = 0;      // lines before this one
  };
  // One picture of `tile` channels.
  struct Tile {
    int64_t image, channel, channels;
  };

  // Lines of the result of a tile of channels, one picture after the other.
  int64_t lines() const { return g_.batch * tiles_ * g_.out_height; }
  int64_t kept_lines() const { return (g_.kernel_height - 1) * g_.dilation_y + 1; }
  int64_t line_elements() const { return g_.out_width * tile_; }
  // Maxima of lines, a line of the result, and one that is read, where these are not as they are computed with.
  int64_t lane_bytes() const {
    const int64_t elements = (kept_lines() + 1) * line_elements() + g_.width * tile_;
    return rounded_up(elements * static_cast<int64_t>(sizeof(T)), 64);
  }
  bool is_computed_with() const { return float_bytes(dtype_) == static_cast<int64_t>(sizeof(T)); }

  void run_line(const Arguments& arguments, int64_t line, Work& work) const {
    const int64_t picture = line / g_.out_height;
    const int64_t y = line % g_.out_height;
    const int64_t channel = picture % tiles_ * tile_;
    const Tile tile{picture / tiles_, channel, std::min(tile_, g_.channels - channel)};
    if (work.picture != picture) work.done = 0;
    work.picture = picture;
    const int64_t top = y * g_.stride_y - g_.pad_top;
    const int64_t bottom = std::min(g_.height, top + kept_lines());
    for (int64_t in_y = std::max({top, work.done, int64_t{0}}); in_y < bottom; ++in_y)
      reduce_line(arguments, tile, in_y, work);
    work.done = std::max(work.done, bottom);
    const auto out = (tile.image * g_.out_height + y) * g_.out_width * g_.channels + tile.channel;
    reduce_columns(top, tile, work, host<std::byte>(arguments.outputs[0]) + out * float_bytes(dtype_));
  }

  T* kept(const Work& work, int64_t in_y) const { return work.memory + in_y % kept_lines() * line_elements(); }

  // The maxima of a line of the picture.
  void reduce_line(const Arguments& arguments, const Tile& tile, int64_t in_y, Work& work) const {
    const int64_t first = (tile.image * g_.height + in_y) * g_.width * g_.channels + tile.channel;
    const auto* const from = host<const std::byte>(arguments.inputs[0]) + first * float_bytes(dtype_);
    const int64_t pixel = is_computed_with() ? g_.channels : tile.channels;
    const T* const line = is_computed_with() ? reinterpret_cast<const T*>(from) : widened(from, tile, work);
    T* const out = kept(work, in_y);
    for (int64_t x = 0; x < g_.out_width; ++x) {
      size_t count = 0;
      for (int64_t k = 0; k < g_.kernel_width; ++k) {
        const int64_t in_x = x * g_.stride_x - g_.pad_left + k * g_.dilation_x;
        if (in_x >= 0 && in_x < g_.width) work.pointers[count++] = line + in_x * pixel;
      }
      reduce(work, count, out + x * tile.channels, tile.channels);
    }
  }

  const T* widened(const std::byte* from, const Tile& tile, const Work& work) const {
    T* const line = work.memory + (kept_lines() + 1) * line_elements();
    const bool is_whole = tile.channels == g_.channels;
    const int64_t count = is_whole ? g_.width * g_.channels : tile.channels;
    for (int64_t x = 0; x < (is_whole ? 1 : g_.width); ++x) {
      if constexpr (std::is_same_v<T, float>)
        load_floats(dtype_, from + x * g_.channels * float_bytes(dtype_), line + x * count, static_cast<size_t>(count));
    }
    return line;
  }

  // The maxima of those of lines.
  void reduce_columns(int64_t top, const Tile& tile, Work& work, std::byte* out) const {
    size_t count = 0;
    for (int64_t k = 0; k < g_.kernel_height; ++k) {
      const int64_t in_y = top + k * g_.dilation_y;
      if (in_y >= 0 && in_y < g_.height) work.pointers[count++] = kept(work, in_y);
    }
    const bool is_whole = tile.channels == g_.channels;
    const bool is_in_place = is_whole && is_computed_with();
    T* const made = is_in_place ? reinterpret_cast<T*>(out) : work.memory + kept_lines() * line_elements();
    reduce(work, count, made, g_.out_width * tile.channels);
    if (is_in_place) return;
    const int64_t run = is_whole ? g_.out_width * g_.channels : tile.channels;
    for (int64_t x = 0; x < (is_whole ? 1 : g_.out_width); ++x) {
      write(made + x * run, out + x * g_.channels * float_bytes(dtype_), static_cast<size_t>(run));
    }
  }

  void write(const T* from, std::byte* to, size_t count) const {
    if constexpr (std::is_same_v<T, float>)
      store_floats(dtype_, from, to, count);
    else
      std::copy_n(from, count, reinterpret_cast<T*>(to));
  }

  // A window that sees nothing but padding has the least number there is.
  static void reduce(const Work& work, size_t rows, T* out, int64_t count) {
    if (rows == 0)
      std::fill_n(out, count, kLeast<T>);
    else
      find_maxima(work.pointers.data(), rows, out, static_cast<size_t>(count));
  }

  PoolForm g_;
  tensor::DType dtype_;
  int64_t tile_ = 0;  // channels at once
  int64_t tiles_ = 1;
  int64_t lanes_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> make_maximum_pool(const PoolForm& geometry, tensor::DType dtype) {
  if (dtype == tensor::DType::int8) return std::make_unique<MaximumPool<int8_t>>(geometry, dtype);
  if (dtype == tensor::DType::uint8) return std::make_unique<MaximumPool<uint8_t>>(geometry, dtype);
  return std::make_unique<MaximumPool<float>>(geometry, dtype);
}

}  // namespace assay::engine::cpu
