// RNN, GRU and LSTM: the products of all inputs at first, then step by step those of the state, whose weights are read
// once in each step.
#include <cstring>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/panels/panel_kernels.h"
#include "engine/devices/cpu/recurrent/coded_gates.h"
#include "engine/devices/cpu/recurrent/direction.h"
#include "engine/layers/form.h"
#include "engine/weights/packed_weights.h"

namespace assay::engine::cpu {
namespace {

constexpr auto kColumns = static_cast<int64_t>(kPanel);

// The panels of [directions, gates * hidden, depth] turned, where each gate begins a panel.
Buffer pack_gates(const Layer& layer, const Recurrence& r, int input, int64_t depth) {
  const tensor::Tensor& weights = *layer.constants[static_cast<size_t>(input)];
  const int64_t width = panel_width(r);
  const int64_t panels = r.directions * panel_row(r) / kColumns;
  const std::string form = fmt::format("gates {} {} {} {}", r.directions, r.gates, r.hidden, depth);
  const auto size = static_cast<uint64_t>(panels * depth * kColumns) * sizeof(float);
  return layer.packed->get(weights, form, size, [&](std::byte* bytes) {
    const auto* const from = reinterpret_cast<const float*>(weights.bytes().data());
    auto* const to = reinterpret_cast<float*>(bytes);
    for (int64_t column = 0; column < panels * kColumns; ++column) {
      const int64_t gate = column / width;
      const int64_t element = column % width;
      float* out = to + column / kColumns * kColumns * depth + column % kColumns;
      const float* const row = from + (gate * r.hidden + element) * depth;
      for (int64_t k = 0; k < depth; ++k, out += kColumns) *out = element < r.hidden ? row[k] : 0;
    }
  });
}

class RecurrentKernel final : public PlainKernel {
 public:
  RecurrentKernel(const Layer& layer, Recurrence recurrence)
      : r_(std::move(recurrence)), y_bytes_(layer.outputs[0].exists() ? layer.outputs[0].size_bytes() : 0) {
    if (!r_.has_codes) {
      w_ = pack_gates(layer, r_, Recurrence::kW, r_.input);
      recurrence_ = pack_gates(layer, r_, Recurrence::kR, r_.hidden);
    }
    for (int64_t d = 0; d < r_.directions && r_.has_codes; ++d) {
      coded_w_.emplace_back(layer, r_, codes_of(layer, r_, d, Recurrence::kW));
      coded_recurrence_.emplace_back(layer, r_, codes_of(layer, r_, d, Recurrence::kR));
    }
  }

  uint64_t workspace_bytes() const override {
    return static_cast<uint64_t>(r_.directions * scratch_count(r_)) * sizeof(float);
  }

  void run(const Arguments& arguments) const override {
    const RecurrentRun run{r_, arguments, read_lengths(arguments)};
    if (r_.has(Recurrence::kLengths) && y_bytes_ > 0) std::memset(run.output(0), 0, y_bytes_);
    parallel_for(static_cast<uint64_t>(r_.directions), 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t d = begin; d < end; ++d) run_direction(run, static_cast<int64_t>(d), weights_of(d));
    });
  }

 private:
  DirectionWeights weights_of(uint64_t direction) const {
    if (r_.has_codes) return {.coded_w = &coded_w_[direction], .coded_recurrence = &coded_recurrence_[direction]};
    const auto begin = static_cast<int64_t>(direction) * panel_row(r_);
    return {host<const float>(w_.first) + begin * r_.input, host<const float>(recurrence_.first) + begin * r_.hidden};
  }

  std::vector<int64_t> read_lengths(const Arguments& arguments) const {
    std::vector<int64_t> lengths(static_cast<size_t>(r_.batch), r_.length);
    if (!r_.has(Recurrence::kLengths)) return lengths;
    const auto* const given = host<const int32_t>(arguments.inputs[Recurrence::kLengths]);
    for (size_t b = 0; b < lengths.size(); ++b) {
      lengths[b] = given[b];
      if (lengths[b] < 0 || lengths[b] > r_.length) {
        fail(ErrorCode::shape, "a sequence has length {}, X has {} steps", lengths[b], r_.length);
      }
    }
    return lengths;
  }

  Recurrence r_;
  uint64_t y_bytes_;
  Buffer w_, recurrence_;
  std::vector<CodedGates> coded_w_, coded_recurrence_;  // by direction
};

class Recurrent final : public Implementation {
 public:
  std::string_view name() const override { return "recurrent.panels"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const found = form_as<Recurrence>(layer);
    return found == nullptr || !layer.lies_plainly() ? nullptr : std::make_unique<RecurrentKernel>(layer, *found);
  }
};

}  // namespace

KernelFamily cpu_kernel_recurrent() { return family_of<Recurrent>(); }

}  // namespace assay::engine::cpu
