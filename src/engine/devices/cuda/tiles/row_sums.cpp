#include "engine/devices/cuda/tiles/row_sums.h"

#include <fmt/format.h>

#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"

namespace assay::engine::cuda {
namespace {

void add_window(const ConvGeometry& g, int64_t pixel, KernelWriter& writer) {
  writer.divisor("kPixels", g.out_height * g.out_width);
  writer.divisor("kOutWidth", g.out_width);
  const std::pair<std::string_view, int64_t> numbers[] = {
      {"kHeight", g.height},        {"kWidth", g.width},          {"kPixel", pixel},
      {"kTapsY", g.kernel_height},  {"kTapsX", g.kernel_width},   {"kStrideY", g.stride_y},
      {"kStrideX", g.stride_x},     {"kPadTop", g.pad_top},       {"kPadLeft", g.pad_left},
      {"kDilationY", g.dilation_y}, {"kDilationX", g.dilation_x}, {"kChannels", g.channels / g.groups}};
  for (const auto& [name, number] : numbers) writer.number(name, number);
}

}  // namespace

Launch row_sums(Programs& programs, const TileProduct& product, const Pointer& sums) {
  constexpr unsigned kThreads = 256, kWarps = kThreads / 32;
  KernelWriter writer;
  writer.type("T", product.type);
  writer.pointer("kLeft", "const T", product.left.pointer);
  writer.pointer("kSums", "int", sums);
  writer.number("kRows", product.rows);
  writer.number("kItem", product.left.items.front());
  writer.constant("kIsWindow", product.windows ? 1 : 0);
  if (product.windows) {
    add_window(*product.windows, product.pixel, writer);
  } else {
    writer.number("kRow", product.left.along);
    writer.number("kColumn", product.left.depth);
    writer.number("kDepth", product.depth);
  }
  if (product.zero) {
    writer.pointer("kZero", fmt::format("const {}", element_type(product.zero_type)), *product.zero);
    writer.text("#define kZeroCode ((int)*kZero)\n");
  } else {
    writer.constant("kZeroCode", product.zero_code);
  }
  Launch launch = writer.finish(programs, kThreads, blocks_for(product.rows, kWarps), row_sums_text());
  launch.grid[1] = static_cast<unsigned>(product.item_count());
  return launch;
}

}  // namespace assay::engine::cuda
