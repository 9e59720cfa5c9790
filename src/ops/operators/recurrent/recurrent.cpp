#include "ops/kernels/recurrent/recurrence.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr std::string_view kRnnFunctions[] = {"tanh"};
constexpr std::string_view kGruFunctions[] = {"sigmoid", "tanh"};
constexpr std::string_view kLstmFunctions[] = {"sigmoid", "tanh", "tanh"};
constexpr RecurrentKind kRnn = {1, false, kRnnFunctions};
constexpr RecurrentKind kGru = {3, false, kGruFunctions};
constexpr RecurrentKind kLstm = {4, true, kLstmFunctions};
constexpr RecurrentKind kCodedLstm = {4, true, kLstmFunctions, true};

// The sums of gate `gate` for hidden element `i`, from the input and from the state.
struct GateSums {
  const RecurrentCell& cell;
  const double* input;
  const double* state;

  double operator()(uint64_t gate, uint64_t i) const {
    const uint64_t at = gate * cell.hidden + i;
    return input[at] + state[at] + cell.input_bias[at] + cell.own_bias[at];
  }
};

void step_rnn(RecurrentCell& cell, std::span<const double* const> inputs) {
  const std::vector<double> state = cell.recur(cell.h, 0, 1);
  for (uint64_t b = 0; b < cell.batch; ++b) {
    if (!inputs[b]) continue;
    const GateSums sums{cell, inputs[b], state.data() + b * cell.row()};
    for (uint64_t i = 0; i < cell.hidden; ++i) cell.h[b * cell.hidden + i] = cell.activate(0, sums(0, i));
  }
}

// The last gate of a GRU, to which the reset gate applies: to the state before it is multiplied, or afterwards.
class Candidate {
 public:
  Candidate(const RecurrentCell& cell, const std::vector<double>& reset, bool resets_after)
      : cell_(cell), reset_(reset), resets_after_(resets_after) {
    std::vector<double> state = cell.h;
    for (size_t i = 0; i < state.size() && !resets_after; ++i) state[i] *= reset[i];
    product_ = cell.recur(state, 2, 1);
  }
  double sum(uint64_t b, uint64_t i, const double* input) const {
    const uint64_t gate = 2 * cell_.hidden + i;
    const uint64_t at = b * cell_.hidden + i;
    const double from_state = product_[at] + cell_.own_bias[gate];
    return input[gate] + (resets_after_ ? reset_[at] * from_state : from_state) + cell_.input_bias[gate];
  }

 private:
  const RecurrentCell& cell_;
  const std::vector<double>& reset_;
  bool resets_after_;
  std::vector<double> product_;
};

void step_gru(RecurrentCell& cell, std::span<const double* const> inputs, bool resets_after) {
  const std::vector<double> state = cell.recur(cell.h, 0, 2);
  std::vector<double> update(cell.h.size());
  std::vector<double> reset(cell.h.size());
  for (uint64_t b = 0; b < cell.batch; ++b) {
    if (!inputs[b]) continue;
    const GateSums sums{cell, inputs[b], state.data() + b * 2 * cell.hidden};
    for (uint64_t i = 0; i < cell.hidden; ++i) {
      update[b * cell.hidden + i] = cell.activate(0, sums(0, i));
      reset[b * cell.hidden + i] = cell.activate(0, sums(1, i));
    }
  }
  const Candidate candidate(cell, reset, resets_after);
  for (uint64_t b = 0; b < cell.batch; ++b) {
    for (uint64_t i = 0; i < cell.hidden && inputs[b]; ++i) {
      const uint64_t at = b * cell.hidden + i;
      const double next = cell.activate(1, candidate.sum(b, i, inputs[b]));
      cell.h[at] = (1 - update[at]) * next + update[at] * cell.h[at];
    }
  }
}

// Gates: input, output, forget, cell. Peepholes: input, output, forget; the output gate sees the new cell state.
void step_lstm(RecurrentCell& cell, std::span<const double* const> inputs, bool couples) {
  const std::vector<double> state = cell.recur(cell.h, 0, 4);
  const auto peephole = [&](uint64_t gate, uint64_t i, double c) {
    return cell.peepholes.empty() ? 0 : cell.peepholes[gate * cell.hidden + i] * c;
  };
  for (uint64_t b = 0; b < cell.batch; ++b) {
    if (!inputs[b]) continue;
    const GateSums sums{cell, inputs[b], state.data() + b * cell.row()};
    for (uint64_t i = 0; i < cell.hidden; ++i) {
      double& c = cell.c[b * cell.hidden + i];
      const double in = cell.activate(0, sums(0, i) + peephole(0, i, c));
      const double keep = couples ? 1 - in : cell.activate(0, sums(2, i) + peephole(2, i, c));
      c = keep * c + in * cell.activate(1, sums(3, i));
      const double out = cell.activate(0, sums(1, i) + peephole(1, i, c));
      cell.h[b * cell.hidden + i] = out * cell.activations[2](c);
    }
  }
}

void eval_rnn(Eval& node) {
  eval_recurrent(node, kRnn,
                 [](RecurrentCell& cell, std::span<const double* const> inputs) { step_rnn(cell, inputs); });
}

void eval_gru(Eval& node) {
  const bool resets_after = node.flag("linear_before_reset");
  eval_recurrent(node, kGru, [&](RecurrentCell& cell, std::span<const double* const> inputs) {
    step_gru(cell, inputs, resets_after);
  });
}

void eval_lstm_of(Eval& node, const RecurrentKind& kind) {
  const bool couples = node.flag("input_forget");
  eval_recurrent(node, kind,
                 [&](RecurrentCell& cell, std::span<const double* const> inputs) { step_lstm(cell, inputs, couples); });
}

}  // namespace

OperatorRows operator_recurrent_recurrent() {
  static constexpr Operator kRows[] = {
      {.name = "RNN",
       .traits = {Nature::recurrence},
       .infer = [](Infer& node) { infer_recurrent(node, kRnn); },
       .eval = eval_rnn,
       .macs = recurrent_macs},
      {.name = "GRU",
       .traits = {Nature::recurrence},
       .infer = [](Infer& node) { infer_recurrent(node, kGru); },
       .eval = eval_gru,
       .macs = recurrent_macs},
      {.name = "LSTM",
       .traits = {Nature::recurrence},
       .infer = [](Infer& node) { infer_recurrent(node, kLstm); },
       .eval = [](Eval& node) { eval_lstm_of(node, kLstm); },
       .macs = recurrent_macs},
      {.domain = kMicrosoft,
       .name = "DynamicQuantizeLSTM",
       .traits = {Nature::recurrence, {.codes = {1, 2}, .scales = {8, 10}}},
       .infer = [](Infer& node) { infer_recurrent(node, kCodedLstm); },
       .eval = [](Eval& node) { eval_lstm_of(node, kCodedLstm); },
       .macs = recurrent_macs},
  };
  return kRows;
}

}  // namespace assay::ops
