// TopK, CumSum, and the codes of DynamicQuantizeLinear: what comes of many elements in an order, or of their extremes.
#include <algorithm>
#include <bit>
#include <limits>

#include "engine/devices/cuda/dynamic_codes.h"
#include "engine/devices/cuda/generate/element_chain.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/layers/cumulative.h"
#include "engine/layers/quantization.h"
#include "engine/layers/reduction.h"
#include "engine/layers/top_k.h"

namespace assay::engine::cuda {
namespace {

using tensor::DType;

constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

bool is_whole(DType dtype) {
  return dtype == DType::int64 || dtype == DType::int32 || dtype == DType::uint8 || dtype == DType::int8;
}

class TopK final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "top_k.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<TopKForm> form = find_top_k(layer);
    if (!form) return {};
    const DType dtype = layer.inputs[0].dtype;
    if (layer.inputs[0].count() > kMostElements || (!is_short_float(dtype) && !is_whole(dtype))) return {};
    constexpr int64_t kMostShared = 64 << 10;
    const auto sorted = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(form->count)));
    const DType key = dtype == DType::int64 ? DType::uint64 : DType::uint32;
    const int64_t key_bytes = tensor::bit_width(key) / 8, row_bytes = sorted * (key_bytes + 4);
    const bool is_shared = row_bytes <= kMostShared;
    if (sorted > kMostElements) return {};
    KernelWriter writer;
    writer.type("T", dtype);
    writer.type("Key", key);
    writer.pointer("kIn", "const T", input_pointer(0));
    writer.pointer("kValues", "T", output_pointer(0));
    writer.pointer("kIndices", "int64", output_pointer(form->gives_indices ? 1 : 0));
    writer.pointer("kWorkspace", "Key", workspace_pointer());
    writer.pointer("kPlaces", "int", workspace_pointer(form->rows * sorted * key_bytes));
    writer.number("kLength", form->length);
    writer.number("kCount", form->count);
    writer.number("kSorted", sorted);
    writer.number("kPlaceDigits", (std::bit_width(static_cast<uint64_t>(form->length)) + 7) / 8);
    writer.constant("kIsFloat", is_short_float(dtype) ? 1 : 0);
    writer.constant("kTakesLargest", form->takes_largest ? 1 : 0);
    writer.constant("kGivesValues", form->gives_values ? 1 : 0);
    writer.constant("kGivesIndices", form->gives_indices ? 1 : 0);
    writer.constant("kIsShared", is_shared ? 1 : 0);
    writer.launch().shared_bytes = is_shared ? static_cast<unsigned>(row_bytes) : 0;
    Launches launches;
    launches.workspace_bytes = is_shared ? 0 : static_cast<uint64_t>(form->rows * row_bytes);
    launches.all.push_back(writer.finish(programs(), threads_of_row(form->length), form->rows, top_k_text()));
    return make_kernel(std::move(launches));
  }
};

class Cumulative final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "cumulative.columns"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<CumulativeForm> form = find_cumulative(layer);
    if (!form) return {};
    const TensorDesc& in = layer.inputs[0];
    const bool is_float = is_short_float(in.dtype);
    if (in.count() > kMostElements || (!is_float && in.dtype != DType::int32 && in.dtype != DType::int64)) {
      return {};
    }
    int64_t inner = 1;
    const auto axis = static_cast<size_t>(form->axis);
    for (size_t i = axis + 1; i < in.dims.size(); ++i) inner *= in.dims[i];
    const int64_t length = in.dims[axis], columns = in.count() / length;
    constexpr int64_t kManyColumns = 1 << 12, kShort = 64;
    const bool is_of_block = columns < kManyColumns && length > kShort;
    const unsigned threads = is_of_block ? threads_of_row(length) : 128;
    KernelWriter writer;
    writer.type("T", in.dtype);
    writer.text(is_float                   ? "typedef double Total;\n"
                : in.dtype == DType::int64 ? "typedef uint64 Total;\n"
                                           : "typedef uint32 Total;\n");
    writer.text(is_float
                    ? "#define widened_element(x) widened(x)\n#define narrowed_element(x) Narrow<T>::of((float)(x))\n"
                    : "#define widened_element(x) (x)\n#define narrowed_element(x) ((T)(x))\n");
    writer.pointer("kIn", "const T", input_pointer(0));
    writer.pointer("kOut", "T", output_pointer(0));
    writer.number("kLength", length);
    writer.number("kColumns", columns);
    writer.divisor("kInner", inner);
    writer.constant("kIsExclusive", form->is_exclusive ? 1 : 0);
    writer.constant("kIsReverse", form->is_reverse ? 1 : 0);
    writer.constant("kIsOfBlock", is_of_block ? 1 : 0);
    return single(
        writer.finish(programs(), threads, is_of_block ? columns : blocks_for(columns, threads), cumulative_text()));
  }
};

class DynamicQuantizer final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "quantize.dynamic"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!quantizes_by_range(layer)) return {};
    const int64_t elements = layer.inputs[0].count();
    if (elements > kMostElements) return {};
    return make_kernel(dynamic_code_launches(programs(), {.numbers = input_pointer(0),
                                                          .count = elements,
                                                          .codes = output_pointer(0),
                                                          .scale = output_pointer(1),
                                                          .zero = output_pointer(2)}));
  }
};

}  // namespace

KernelFamily cuda_kernel_orders() { return family_of<TopK, Cumulative, DynamicQuantizer>(); }

}  // namespace assay::engine::cuda
