#include "engine/devices/cpu/attention/attention_codes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include "base/parallel.h"
#include "engine/devices/cpu/integers/finish_kernels.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/tiles/code_rows.h"
#include "engine/devices/cpu/tiles/computed_panels.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kChunk = 128;        // queries that keys and values are packed for
constexpr int64_t kMostScores = 6144;  // of rows that are computed together, where these are not few
constexpr int64_t kLeastRows = 12, kMostRows = 48;

bool are_signed(const Quantizer& quantizer) { return quantizer.codes == tensor::DType::int8; }

NumberType type_of(const std::optional<Quantizer>& quantizer) {
  if (!quantizer) return NumberType::float32;
  return are_signed(*quantizer) ? NumberType::int8 : NumberType::uint8;
}

// Divides memory from an address on.
class Pieces {
 public:
  explicit Pieces(Address from) : from_(from), next_(from) {}
  template <typename T>
  T* take(int64_t count) {
    T* const piece = host<T>(next_);
    next_ = next_ + static_cast<uint64_t>(rounded_up(count * static_cast<int64_t>(sizeof(T)), 64));
    return piece;
  }
  uint64_t taken() const { return next_.value - from_.value; }

 private:
  Address from_, next_;
};

class AttentionOfCodes final : public PlainKernel {
 public:
  explicit AttentionOfCodes(CodeAttention attention)
      : a_(std::move(attention)),
        q_form_(CodeForm::of(a_.q_codes.codes)),
        weight_form_(CodeForm::of(a_.weights.codes)),
        keys_(a_.q_codes, a_.k_codes, a_.keys, a_.depth),
        values_(a_.weights_read, a_.v_codes, a_.width, a_.keys),
        ones_(a_.q_codes, {.codes = tensor::DType::int8}, 1, a_.depth),
        packed_ones_(ones_.bytes()),
        lanes_(thread_count()),
        block_(std::clamp(kMostScores / keys_.whole_columns() / kLeastRows * kLeastRows, kLeastRows, kMostRows)),
        result_factor_(a_.weights_read.scale * a_.v_codes.scale / (a_.result ? a_.result->scale : 1)),
        factors_(static_cast<size_t>(rounded_up(a_.width, 64)), result_factor_),
        bias_(factors_.size()) {
    const std::vector<std::byte> ones(static_cast<size_t>(a_.depth), std::byte{1});
    ones_.pack({ones.data(), 0, 1, 1}, packed_ones_.data());
  }

  uint64_t workspace_bytes() const override { return lanes_ * lane_bytes(); }

  void run(const Arguments& arguments) const override {
    const int64_t chunks = parts_of(a_.rows, kChunk);
    int64_t pieces = chunks;
    for (const int64_t dim : a_.items) pieces *= dim;
    std::atomic<int64_t> next = 0;
    parallel_for(lanes_, 1, [&](uint64_t lane, uint64_t) {
      const Scratch scratch(arguments.workspace + lane * lane_bytes(), *this);
      for (int64_t piece = next++; piece < pieces; piece = next++) {
        const int64_t first = piece % chunks * kChunk;
        run_chunk({arguments, scratch, piece / chunks}, {first, std::min(first + kChunk, a_.rows)});
      }
    });
  }

 private:
  struct Range {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
  };
  // Memory of a lane.
  struct Scratch {
    std::byte *keys, *values, *queries, *codes, *wide_codes;
    int32_t *scores, *sums, *ones, *shares, *totals;
    uint64_t bytes;

    Scratch(Address memory, const AttentionOfCodes& of) {
      Pieces pieces(memory);
      keys = pieces.take<std::byte>(static_cast<int64_t>(of.keys_.bytes()));
      values = pieces.take<std::byte>(static_cast<int64_t>(of.values_.bytes()));
      queries = pieces.take<std::byte>(of.block_ * of.keys_.words() * 4);
      codes = pieces.take<std::byte>(of.block_ * of.keys_.whole_columns());
      wide_codes = pieces.take<std::byte>(of.weight_form_.widens ? of.block_ * of.values_.words() * 4 : 0);
      scores = pieces.take<int32_t>(of.block_ * of.keys_.whole_columns());
      sums = pieces.take<int32_t>(of.block_ * of.values_.whole_columns());
      ones = pieces.take<int32_t>(of.block_ * ComputedPanels::kWholeColumns);
      shares = pieces.take<int32_t>(of.block_);
      totals = pieces.take<int32_t>(of.block_);
      bytes = pieces.taken();
    }
  };
  struct Item {
    const Arguments& arguments;
    const Scratch& scratch;
    int64_t number;
  };
  // The begins of rows.
  struct Places {
    std::array<const float*, kMostRows> all;
    size_t count;
    std::span<const float* const> span() const { return std::span(all).first(count); }
  };

  uint64_t lane_bytes() const { return Scratch({}, *this).bytes; }

  const std::byte* place(const Matrices& matrices, const Item& item, int64_t row, int64_t bytes) const {
    const int64_t element = element_of(matrices, a_.items, item.number) + row * matrices.row;
    return first_byte(matrices, item.arguments) + element * bytes;
  }

  void run_chunk(const Item& item, Range rows) const {
    keys_.pack({place(a_.k, item, 0, 1), a_.k.row, a_.k.column, a_.keys}, item.scratch.keys);
    values_.pack({place(a_.v, item, 0, 1), a_.v.column, a_.v.row, a_.width}, item.scratch.values);
    for (int64_t row = rows.begin; row < rows.end; row += block_) {
      const Range block{row, std::min(row + block_, rows.end)};
      score(item, block);
      weigh(item, block);
      sum_up(item, block);
    }
  }

  // Rows of codes as words that may be read: where they are, or copied.
  Places queries(const Item& item, Range rows) const {
    Places places = {{}, static_cast<size_t>(rows.size())};
    const bool are_copied = q_form_.widens || a_.depth % 4 != 0;
    const int64_t row_bytes = keys_.words() * 4;
    const std::byte* const first = place(a_.q, item, rows.begin, 1);
    for (int64_t r = 0; r < rows.size(); ++r) {
      const std::byte* codes = first + r * a_.q.row;
      if (are_copied) {
        std::byte* const copy = item.scratch.queries + r * row_bytes;
        q_form_.copy(codes, a_.depth, copy);
        codes = copy;
      }
      places.all[static_cast<size_t>(r)] = reinterpret_cast<const float*>(codes);
    }
    return places;
  }

  void score(const Item& item, Range rows) const {
    const Places places = queries(item, rows);
    keys_.multiply(places.span(), item.scratch.keys, item.scratch.scores, keys_.whole_columns());
    if (keys_.share() == 0) return;
    ones_.multiply(places.span(), packed_ones_.data(), item.scratch.ones, ComputedPanels::kWholeColumns);
    for (int64_t r = 0; r < rows.size(); ++r)
      item.scratch.shares[r] = keys_.share() * item.scratch.ones[r * ComputedPanels::kWholeColumns];
  }

  void weigh(const Item& item, Range rows) const {
    std::array<ScoreStep, kMostScoreChanges> steps;
    find_steps(item, rows.begin, steps);
    const Scratch& scratch = item.scratch;
    score_kernels().weigh({.sums = scratch.scores,
                           .sums_row = keys_.whole_columns(),
                           .rows = static_cast<size_t>(rows.size()),
                           .count = static_cast<size_t>(a_.keys),
                           .more = keys_.share() == 0 ? nullptr : scratch.shares,
                           .factor = a_.factor,
                           .steps = steps.data(),
                           .step_count = a_.changes.size(),
                           .quantum = a_.weights.scale,
                           .zero = a_.weights.zero,
                           .are_signed = are_signed(a_.weights),
                           .codes = reinterpret_cast<uint8_t*>(scratch.codes),
                           .totals = scratch.totals});
    const auto keys = static_cast<int32_t>(a_.keys);
    for (int64_t r = 0; r < rows.size(); ++r) scratch.totals[r] += keys * (a_.weights.zero - a_.weights_read.zero);
  }

  void find_steps(const Item& item, int64_t row, std::array<ScoreStep, kMostScoreChanges>& steps) const {
    for (size_t i = 0; i < a_.changes.size(); ++i) {
      const auto& [step, other] = a_.changes[i];
      steps[i] = step;
      steps[i].row = other.row;
      if (step.op == ScoreOp::add) steps[i].added = reinterpret_cast<const float*>(place(other, item, row, 4));
      if (step.op == ScoreOp::choose)
        steps[i].conditions = reinterpret_cast<const uint8_t*>(place(other, item, row, 1));
    }
  }

  Places weights(const Item& item, int64_t rows) const {
    Places places = {{}, static_cast<size_t>(rows)};
    for (int64_t r = 0; r < rows; ++r) {
      const std::byte* codes = item.scratch.codes + r * keys_.whole_columns();
      if (weight_form_.widens) {
        std::byte* const copy = item.scratch.wide_codes + r * values_.words() * 4;
        weight_form_.copy(codes, a_.keys, copy);
        codes = copy;
      }
      places.all[static_cast<size_t>(r)] = reinterpret_cast<const float*>(codes);
    }
    return places;
  }

  void sum_up(const Item& item, Range rows) const {
    const int64_t row_sums = values_.whole_columns();
    const Places places = weights(item, rows.size());
    int32_t* const sums = item.scratch.sums;
    values_.multiply(places.span(), item.scratch.values, sums, row_sums);
    for (int64_t r = 0; r < rows.size() && values_.share() != 0; ++r) {
      score_kernels().shift(sums + r * row_sums, static_cast<size_t>(row_sums),
                            values_.share() * item.scratch.totals[r]);
    }
    const int64_t bytes = a_.result ? 1 : 4;
    const int64_t first = element_of(a_.out, a_.items, item.number) + rows.begin * a_.out.row;
    finish_rows({.sums = sums,
                 .sums_row = row_sums,
                 .rows = static_cast<size_t>(rows.size()),
                 .channels = static_cast<size_t>(a_.width),
                 .factors = factors_.data(),
                 .bias = bias_.data(),
                 .type = type_of(a_.result),
                 .zero = a_.result ? a_.result->zero : 0,
                 .may_overflow = !(result_factor_ < 0.5F),
                 .out = host<std::byte>(item.arguments.outputs[0]) + first * bytes,
                 .out_row = a_.out.row});
  }

  CodeAttention a_;
  CodeForm q_form_, weight_form_;
  ComputedPanels keys_, values_;
  ComputedPanels ones_;  // a column of ones, for the sums of rows
  std::vector<std::byte> packed_ones_;
  uint64_t lanes_;
  int64_t block_;  // rows that are computed together
  float result_factor_;
  std::vector<float> factors_, bias_;
};

}  // namespace

std::unique_ptr<PlainKernel> make_attention_of_codes(CodeAttention attention) {
  return std::make_unique<AttentionOfCodes>(std::move(attention));
}

}  // namespace assay::engine::cpu
