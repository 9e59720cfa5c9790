// Attention between quantisers, whose products are of codes.
#include "engine/devices/cpu/attention/attention_codes.h"

#include <algorithm>

#include "engine/devices/cpu/device.h"
#include "engine/layers/code_matrices.h"
#include "engine/layers/form.h"

namespace assay::engine::cpu {
namespace {

class QuantizedReader {
 public:
  QuantizedReader(const Layer& layer, const QuantizedAttention& found) : layer_(layer), found_(found) {}

  CodeAttention read() {
    const CodeMatrices matrices = code_matrices(layer_, found_);
    a_.items = matrices.items;
    a_.rows = matrices.rows;
    a_.width = matrices.width;
    a_.depth = matrices.depth;
    a_.keys = matrices.keys;
    a_.q = matrices.q;
    a_.k = matrices.k;
    a_.v = matrices.v;
    a_.out = matrices.out;
    a_.q_codes = found_.q_codes;
    a_.k_codes = found_.k_codes;
    a_.v_codes = found_.v_codes;
    a_.factor = found_.q_codes.scale * found_.k_codes.scale;
    for (size_t i = 0; i < found_.changes.size(); ++i) add(found_.changes[i], matrices.others[i]);
    a_.weights = found_.weights;
    a_.weights_read = found_.weights_read;
    a_.result = found_.result;
    return std::move(a_);
  }

 private:
  void add(const ScoreChange& change, const Matrices& other) {
    if (change.kind == ScoreChange::Kind::scale) return scale_by(change.factor);
    ScoreStep step;
    if (change.kind == ScoreChange::Kind::requantise) {
      const float least = least_of(change.to);
      step = {.op = ScoreOp::requantise,
              .factor = change.from.scale,
              .offset = static_cast<float>(change.to.zero - change.from.zero) * change.from.scale,
              .unit = 1 / change.to.scale,
              .least = least,
              .greatest = least + 255};
      a_.changes.push_back({step, {}});
      return;
    }
    const bool adds = change.kind == ScoreChange::Kind::add;
    step = {.op = adds ? ScoreOp::add : ScoreOp::choose, .hidden_where = change.hidden_where, .number = change.number};
    a_.changes.push_back({step, other});
  }

  // Scales by a factor: numbers that are multiplied anyway by both at once.
  void scale_by(float factor) {
    if (a_.changes.empty()) {
      a_.factor *= factor;
      return;
    }
    ScoreStep& last = a_.changes.back().step;
    if (last.op == ScoreOp::add || last.op == ScoreOp::choose) {
      a_.changes.push_back({{.op = ScoreOp::scale, .factor = factor}, {}});
      return;
    }
    last.factor *= factor;
    last.offset *= factor;
  }

  const Layer& layer_;
  const QuantizedAttention& found_;
  CodeAttention a_;
};

bool is_dense_in_rows(const CodeAttention& a) {
  const bool are_others = std::ranges::all_of(
      a.changes, [](const ChangedScores& change) { return !change.other.exist() || change.other.column == 1; });
  return are_others && a.q.column == 1 && a.out.column == 1;
}

class AttentionCodes final : public Implementation {
 public:
  std::string_view name() const override { return "attention.codes"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (layer.outputs.size() != 1 || !has_layout(layer.outputs[0], Layout::plain)) return {};
    const auto* const found = form_as<QuantizedAttention>(layer);
    if (found == nullptr) return {};
    CodeAttention attention = QuantizedReader(layer, *found).read();
    if (!is_dense_in_rows(attention)) return {};
    return make_attention_of_codes(std::move(attention));
  }
};

}  // namespace

KernelFamily cpu_kernel_attention_codes() { return family_of<AttentionCodes>(); }

}  // namespace assay::engine::cpu
