#include "engine/devices/cpu/integers/integer_epilogue.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kWholeChannels = 64;  // that loops read at once

std::optional<NumberType> number_type(tensor::DType dtype) {
  if (dtype == tensor::DType::float32) return NumberType::float32;
  if (dtype == tensor::DType::int8) return NumberType::int8;
  if (dtype == tensor::DType::uint8) return NumberType::uint8;
  return dtype == tensor::DType::int32 ? std::optional(NumberType::int32) : std::nullopt;
}

// The codes of a quantiser's step, less its zero point.
std::pair<float, float> range_of(const Chain::Step& quantizer) {
  const float least = (quantizer.op == ElementOp::quantize_signed ? -128.0F : 0.0F) - quantizer.q;
  return {least, least + 255};
}

}  // namespace

// Reads the chain that follows a product as steps, in which numbers are in the unit of the next quantizer, or as GELU
// wants them.
class IntegerEpilogueMaker {
 public:
  // With `tabulates`, what follows the first codes becomes a table, if it is a function of these.
  IntegerEpilogueMaker(const Layer& layer, size_t done, bool tabulates)
      : layer_(layer), tabulates_(tabulates), found_(find_chain(layer, done, layer.result(layer.nodes[done - 1], 0))) {}

  std::optional<IntegerEpilogue> make(std::vector<float> factors, std::vector<float> bias) {
    if (!found_) return std::nullopt;
    const std::optional<NumberType> type = number_type(layer_.outputs[0].dtype);
    if (type == NumberType::int32 && !chain().steps.empty()) return std::nullopt;
    if (!read_all()) {
      if (!take_tape()) return std::nullopt;
    } else if (!type) {
      return std::nullopt;
    }
    made_.out_type_ = layer_.outputs[0].dtype;
    set_numbers(std::move(factors), std::move(bias));
    return std::move(made_);
  }

 private:
  const Chain& chain() const { return *found_; }
  const Chain::Step& step() const { return chain().steps[next_]; }
  bool is_done() const { return next_ == chain().steps.size(); }

  bool read_all() {
    if (!chain().steps.empty() && chain().steps.back().makes_codes()) {
      last_ = &chain().steps.back();
      made_.zero_ = static_cast<int32_t>(last_->q);
    }
    find_unit();
    first_unit_ = unit_;
    while (!is_done()) {
      if (!read_step()) return false;
    }
    const bool gives_codes = tensor::bit_width(layer_.outputs[0].dtype) == 8;
    if (gives_codes != (last_ != nullptr) || made_.steps_.size() > kMostFinishSteps) return false;
    drop_needless_bounds();
    return true;
  }

  // A tape for all, or up to codes of which the rest is a function.
  bool take_tape() {
    made_ = {};
    first_unit_ = 1;
    constant_ = 0;
    std::optional<Tape> tape;
    for (size_t i = 0; i + 1 < chain().steps.size() && !tape; ++i) {
      const Chain::Step& codes = chain().steps[i];
      if (!codes.makes_codes() || !tabulate(i)) continue;
      Chain until = chain();
      until.steps.resize(i + 1);
      until.result = codes.out;
      Layer made = layer_;
      made.outputs[0].dtype = made_.code_type_;
      tape = Tape::make(made, until);
    }
    if (!tape) made_.table_.reset();
    if (!tape) tape = Tape::make(layer_, chain());
    if (!tape) return false;
    tape->take_floats();
    made_.tape_ = std::move(*tape);
    return true;
  }

  // That of the quantizer that comes next, or 1, as GELU wants it.
  void find_unit() {
    const auto next =
        std::find_if(chain().steps.begin() + static_cast<std::ptrdiff_t>(next_), chain().steps.end(),
                     [](const Chain::Step& step) { return step.makes_codes() || step.op == ElementOp::gelu; });
    unit_ = next != chain().steps.end() && next->makes_codes() ? next->p : 1;
  }

  bool read_step() {
    if (step().op == ElementOp::dequantize && step().a != value_) return note_input();
    if (step().makes_codes()) return quantize();
    if (step().op == ElementOp::gelu) return add_gelu();
    if (step().op == ElementOp::add) return add();
    const bool is_relu = step().op == ElementOp::relu;
    const bool is_clip = step().op == ElementOp::clip && step().p <= step().q;
    if (step().a != value_ || !(is_relu || is_clip) || chain().uses(value_) != 1) return false;
    const float least = is_relu ? 0 : step().p;
    const float greatest = is_relu ? std::numeric_limits<float>::infinity() : step().q;
    push({.op = FinishOp::bound, .least = least / unit_, .greatest = greatest / unit_});
    pass();
    return true;
  }

  // Codes that are dequantised to be added later.
  bool note_input() {
    if (chain().input_of(step().a) < 0) return false;
    inputs_.push_back(&step());
    ++next_;
    return true;
  }

  // The last one, or one whose codes are dequantised again.
  bool quantize() {
    const Chain::Step& to = step();
    if (to.a != value_) return false;
    pass();
    if (is_done()) return true;
    if (tabulates_ && tabulate(next_ - 1)) {
      last_ = &to;
      made_.zero_ = static_cast<int32_t>(to.q);
      next_ = chain().steps.size();
      return true;
    }
    while (!is_done() && step().op == ElementOp::dequantize && step().a != value_) {
      if (!note_input()) return false;
    }
    if (is_done() || step().op != ElementOp::dequantize) return false;
    const Chain::Step& from = step();
    find_unit();
    const auto [least, greatest] = range_of(to);
    push({.op = FinishOp::requantise,
          .factor = from.p / unit_,
          .offset = (to.q - from.q) * from.p / unit_,
          .least = least,
          .greatest = greatest});
    pass();
    return true;
  }

  // Makes a table of the steps behind one that makes codes.
  bool tabulate(size_t codes) {
    made_.code_type_ = chain().steps[codes].dtype;
    made_.table_ = CodeTable::make(layer_, chain(), codes);
    return made_.has_table();
  }

  bool add() {
    const bool is_first = step().a == value_;
    if (!is_first && step().b != value_) return false;
    const int other = is_first ? step().b : step().a;
    const auto known = std::ranges::find(inputs_, other, &Chain::Step::out);
    const Chain::Step* const codes = known == inputs_.end() ? nullptr : *known;
    const int input = chain().input_of(codes == nullptr ? other : codes->a);
    if (other == value_ || input < 0) return false;
    const TensorDesc& desc = layer_.inputs[static_cast<size_t>(input)];
    const TensorDesc& out = layer_.outputs[0];
    if (desc.dims != out.dims || desc.strides != out.strides) return false;
    if (codes == nullptr && desc.dtype != tensor::DType::float32) return false;
    FinishStep made{.op = FinishOp::add,
                    .type = number_type(desc.dtype).value_or(NumberType::float32),
                    .factor = (codes == nullptr ? 1 : codes->p) / unit_};
    const bool follows_codes = !made_.steps_.empty() && made_.steps_.back().op == FinishOp::requantise;
    float& offset = made_.steps_.empty() ? constant_ : follows_codes ? made_.steps_.back().offset : made.offset;
    offset += (codes == nullptr ? 0 : -codes->q) * made.factor;
    push(made, input);
    pass();
    return true;
  }

  // GELU by erf, for codes whose steps are much larger than what the loops are wrong by.
  bool add_gelu() {
    constexpr float kLeastScale = 5e-4F;
    if (last_ == nullptr || last_->p < kLeastScale || layer_.is_strict || step().a != value_) return false;
    pass();
    find_unit();
    push({.op = FinishOp::gelu, .factor = 1 / unit_});
    return true;
  }

  void push(const FinishStep& step, int added = -1) {
    made_.steps_.push_back(step);
    made_.added_.push_back(added);
  }

  void pass() { value_ = chain().steps[next_++].out; }

  // Bounds that codes keep anyway.
  void drop_needless_bounds() {
    if (last_ == nullptr || made_.steps_.empty() || made_.steps_.back().op != FinishOp::bound) return;
    const auto [least, greatest] = range_of(*last_);
    const FinishStep& step = made_.steps_.back();
    if (step.least > least || step.greatest < greatest) return;
    made_.steps_.pop_back();
    made_.added_.pop_back();
  }

  void set_numbers(std::vector<float> factors, std::vector<float> bias) {
    float most_factor = 0;
    float most_bias = 0;
    for (float& factor : factors) most_factor = std::max(most_factor, factor /= first_unit_);
    for (float& number : bias) most_bias = std::max(most_bias, std::fabs(number = number / first_unit_ + constant_));
    constexpr float kMostSum = 2147483648.0F;
    const bool has_floats = std::ranges::any_of(made_.steps_, [](const FinishStep& step) {
      const bool adds = step.op == FinishOp::add;
      const bool is_scaled = adds || step.op == FinishOp::requantise;
      return (adds && step.type == NumberType::float32) || (is_scaled && step.factor * 512 > kMostSum / 8);
    });
    made_.may_overflow_ = has_floats || !(most_factor < 0.5F) || !(most_bias < kMostSum / 8);
    const auto whole =
        static_cast<size_t>(rounded_up(static_cast<int64_t>(bias.size()), kWholeChannels)) + kWholeChannels;
    factors.resize(whole);
    bias.resize(whole);
    made_.factors_ = std::move(factors);
    made_.bias_ = std::move(bias);
  }

  const Layer& layer_;
  bool tabulates_;
  std::optional<Chain> found_;
  size_t next_ = 0;
  int value_ = 0;                      // the register that the steps have
  const Chain::Step* last_ = nullptr;  // if it makes codes
  float unit_ = 1;
  float first_unit_ = 1;                    // of the sums
  float constant_ = 0;                      // is added to all biases
  std::vector<const Chain::Step*> inputs_;  // codes that are dequantised
  IntegerEpilogue made_;
};

std::optional<IntegerEpilogue> IntegerEpilogue::make(const Layer& layer, const std::optional<QuantizedProduct>& product,
                                                     int64_t channels, size_t done) {
  std::vector<float> factors(static_cast<size_t>(channels), 1);
  std::vector<float> bias;
  if (product) {
    for (size_t i = 0; i < factors.size(); ++i)
      factors[i] = product->quantizer.scale * product->scales[product->scales.size() == 1 ? 0 : i];
    bias = product->bias;
  }
  bias.resize(factors.size());
  std::optional<IntegerEpilogue> made = IntegerEpilogueMaker(layer, done, false).make(factors, bias);
  const auto is_gelu = [](const FinishStep& step) { return step.op == FinishOp::gelu; };
  if (made && !made->has_tape() && std::ranges::none_of(made->steps_, is_gelu)) return made;
  std::optional<IntegerEpilogue> tabulated =
      IntegerEpilogueMaker(layer, done, true).make(std::move(factors), std::move(bias));
  return tabulated && tabulated->has_table() ? tabulated : made;
}

bool IntegerEpilogue::fits_tiles() const {
  const bool makes_codes = out_type_ == tensor::DType::int8 || out_type_ == tensor::DType::uint8;
  return makes_codes && !has_tape() && std::ranges::none_of(steps_, [](const FinishStep& step) {
           return step.op == FinishOp::gelu || (step.op == FinishOp::add && step.type == NumberType::float32);
         });
}

bool IntegerEpilogue::adds_nothing() const {
  return !has_tape() && std::ranges::none_of(steps_, [](const FinishStep& step) { return step.op == FinishOp::add; });
}

IntegerEpilogue::Run::Run(const IntegerEpilogue& epilogue, const Arguments& arguments)
    : epilogue_(epilogue), arguments_(arguments) {
  for (size_t i = 0; i < epilogue.steps_.size(); ++i) {
    steps_[i] = epilogue.steps_[i];
    const int input = epilogue.added_[i];
    if (input >= 0) steps_[i].added = host<const std::byte>(arguments.inputs[static_cast<size_t>(input)]);
  }
  rows_ = {.steps = steps_.data(),
           .step_count = epilogue.steps_.size(),
           .type = epilogue.has_tape()    ? NumberType::float32
                   : epilogue.has_table() ? *number_type(epilogue.code_type_)
                                          : *number_type(epilogue.out_type_),
           .zero = epilogue.zero_,
           .may_overflow = epilogue.may_overflow_,
           .out = host<std::byte>(arguments.outputs[0])};
}

void IntegerEpilogue::Run::finish(const SumRows& rows) {
  rows_.sums = rows.sums;
  rows_.sums_row = rows.sums_row;
  rows_.rows = static_cast<size_t>(rows.rows);
  rows_.channels = static_cast<size_t>(rows.channels);
  rows_.factors = epilogue_.factors_.data() + rows.channel;
  rows_.bias = epilogue_.bias_.data() + rows.channel;
  if (!epilogue_.has_tape()) {
    rows_.first = rows.first;
    rows_.out_row = rows.pitch;
    finish_rows(rows_);
    return end_tiles(rows.first, rows.rows);
  }
  rows_.out = rows.sums;
  rows_.out_row = rows.sums_row;
  finish_rows(rows_);
  const int64_t bytes = float_bytes(epilogue_.out_type_);
  epilogue_.tape_.run_rows({rows.sums, rows.sums_row}, host<std::byte>(arguments_.outputs[0]) + rows.first * bytes,
                           arguments_.inputs, {rows.first, rows.pitch, rows.rows, rows.channels});
  rows_.out_row = rows.pitch;
  end_tiles(rows.first, rows.rows);
}

const FinishRows& IntegerEpilogue::Run::in_tiles(int64_t channel, int64_t channels, int64_t pitch) {
  rows_.channels = static_cast<size_t>(channels);
  rows_.factors = epilogue_.factors_.data() + channel;
  rows_.bias = epilogue_.bias_.data() + channel;
  rows_.out_row = pitch;
  return rows_;
}

void IntegerEpilogue::Run::end_tiles(int64_t first, int64_t rows) {
  if (!epilogue_.has_table()) return;
  std::byte* const codes = host<std::byte>(arguments_.outputs[0]) + first;
  for (int64_t row = 0; row < rows; ++row) {
    std::byte* const at = codes + row * rows_.out_row;
    epilogue_.table_->map(at, at, rows_.channels);
  }
}

}  // namespace assay::engine::cpu
