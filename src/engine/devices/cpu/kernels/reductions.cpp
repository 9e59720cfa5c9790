// Sums, means, squares and greatest elements over neighbouring dims, of an operand or of a chain of elementwise
// operators; and where along one dim the greatest or least element is.
#include <algorithm>
#include <array>
#include <limits>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/reductions/reduction_kernel.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/layers/form.h"

namespace assay::engine::cpu {
namespace {

class Reducing final : public Implementation {
 public:
  std::string_view name() const override { return "reduction.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const found = form_as<Reduction>(layer);
    if (found == nullptr) return {};
    ReducedElements elements;
    TensorDesc in = layer.inputs[0];
    if (!layer.is_single()) {
      const Layer before = without_last(layer);
      in = before.outputs[0];
      elements.tape = Tape::make(before, 0, {});
      if (!elements.tape) return {};
    }
    if (!is_float(in.dtype) || in.count() == 0 || layer.outputs[0].dtype != in.dtype) return {};
    elements.dtype = in.dtype;
    const std::optional<ReductionExtents> extents = reduction_extents(in, layer.outputs[0], found->axes);
    return extents ? make_reduction(found->kind, *extents, std::move(elements)) : nullptr;
  }
};

// Columns of [outer, reduced, inner] at a time. A row that lies side by side is one of columns, and some more elements.
class PlacesKernel final : public PlainKernel {
 public:
  struct Choice {
    float sign;  // -1: the least ones
    bool takes_last;
  };
  PlacesKernel(const ReductionExtents& extents, tensor::DType dtype, Choice choice)
      : e_(extents), dtype_(dtype), choice_(choice) {}

  void run(const Arguments& arguments) const override {
    const auto* const in = host<const std::byte>(arguments.inputs[0]);
    auto* const out = host<int64_t>(arguments.outputs[0]);
    const int64_t tiles = parts_of(e_.inner, kColumns);
    constexpr int64_t kGrain = 1 << 14;  // elements read
    const int64_t each = e_.reduced * std::min(e_.inner, kColumns);
    parallel_for(static_cast<uint64_t>(e_.outer * tiles), static_cast<uint64_t>(std::max<int64_t>(1, kGrain / each)),
                 [&](uint64_t begin, uint64_t end) {
                   for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
                     const int64_t first = i % tiles * kColumns;
                     if (e_.inner == 1)
                       out[i] = place_in_row(in, i * e_.reduced);
                     else
                       find(in, i / tiles, first, std::min(kColumns, e_.inner - first),
                            out + i / tiles * e_.inner + first);
                   }
                 });
  }

 private:
  static constexpr int64_t kColumns = 256;
  static constexpr int64_t kLanes = 64;  // columns of a row that lies side by side

  struct Best {
    std::array<float, kColumns> kept;
    std::array<int32_t, kColumns> places;
  };

  void keep(const std::byte* in, int64_t at, int64_t count, int64_t place, Best& best) const {
    std::array<float, kColumns> read;
    const auto size = static_cast<size_t>(count);
    const float* const x = read_floats(dtype_, in + at * float_bytes(dtype_), read.data(), size);
    if (place == 0) {
      for (size_t i = 0; i < size; ++i) best.kept[i] = x[i] * choice_.sign;
      std::fill_n(best.places.begin(), size, 0);
      return;
    }
    row_kernels().keep_places(x, choice_.sign, static_cast<int32_t>(place), choice_.takes_last, best.kept.data(),
                              best.places.data(), size);
  }

  void find(const std::byte* in, int64_t outer, int64_t first, int64_t count, int64_t* out) const {
    Best best;
    for (int64_t r = 0; r < e_.reduced; ++r) keep(in, (outer * e_.reduced + r) * e_.inner + first, count, r, best);
    for (int64_t i = 0; i < count; ++i) out[i] = best.places[static_cast<size_t>(i)];
  }

  // True if an element at a later or earlier place wins over the best one.
  bool wins(float x, int64_t place, float best, int64_t best_place) const {
    const bool is_equal = x == best || (x != x && best != best);
    if (is_equal) return choice_.takes_last ? place > best_place : place < best_place;
    return x > best || x != x;
  }

  int64_t place_in_row(const std::byte* in, int64_t first) const {
    const int64_t lanes = std::min(kLanes, e_.reduced);
    const int64_t groups = e_.reduced / lanes;
    Best best;
    for (int64_t g = 0; g < groups; ++g) keep(in, first + g * lanes, lanes, g, best);
    float kept = best.kept[0];
    int64_t place = best.places[0] * lanes;
    const auto consider = [&](float x, int64_t at) {
      if (!wins(x, at, kept, place)) return;
      kept = x;
      place = at;
    };
    for (int64_t i = 1; i < lanes; ++i) {
      const auto lane = static_cast<size_t>(i);
      consider(best.kept[lane], best.places[lane] * lanes + i);
    }
    std::array<float, kLanes> read;
    const int64_t done = groups * lanes;
    const float* const rest = read_floats(dtype_, in + (first + done) * float_bytes(dtype_), read.data(),
                                          static_cast<size_t>(e_.reduced - done));
    for (int64_t i = done; i < e_.reduced; ++i) consider(rest[i - done] * choice_.sign, i);
    return place;
  }

  ReductionExtents e_;
  tensor::DType dtype_;
  Choice choice_;
};

class Places final : public Implementation {
 public:
  std::string_view name() const override { return "reduction.places"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<PlacesForm>(layer);
    if (form == nullptr) return {};
    const TensorDesc& in = layer.inputs[0];
    if (!is_float(in.dtype) || in.count() == 0 || in.dims[form->axis] > INT32_MAX) return {};
    const std::optional<ReductionExtents> extents = reduction_extents(in, layer.outputs[0], {form->axis});
    if (!extents) return {};
    const PlacesKernel::Choice choice{form->is_maximum ? 1.0F : -1.0F, form->takes_last};
    return std::make_unique<PlacesKernel>(*extents, in.dtype, choice);
  }
};

}  // namespace

KernelFamily cpu_kernel_reductions() { return family_of<Reducing, Places>(); }

}  // namespace assay::engine::cpu
