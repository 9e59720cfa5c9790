#include "engine/devices/cpu/tape/tape.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/element_walk.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/elementwise.h"
#include "engine/quantization.h"
#include "engine/spelled_gelu.h"
#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kWholeVectors = 16;

struct Name {
  std::string_view op;
  TapeOp code;
};
constexpr std::array kNames = {Name{"Add", TapeOp::add},
                               Name{"Sub", TapeOp::subtract},
                               Name{"Mul", TapeOp::multiply},
                               Name{"Div", TapeOp::divide},
                               Name{"Max", TapeOp::maximum},
                               Name{"Min", TapeOp::minimum},
                               Name{"Pow", TapeOp::power},
                               Name{"PRelu", TapeOp::prelu},
                               Name{"Identity", TapeOp::copy},
                               Name{"Cast", TapeOp::copy},
                               Name{"DequantizeLinear", TapeOp::dequantize},
                               Name{"QuantizeLinear", TapeOp::quantize_signed},
                               Name{"Relu", TapeOp::relu},
                               Name{"LeakyRelu", TapeOp::leaky_relu},
                               Name{"Sigmoid", TapeOp::sigmoid},
                               Name{"Tanh", TapeOp::tanh},
                               Name{"Elu", TapeOp::elu},
                               Name{"Selu", TapeOp::selu},
                               Name{"HardSwish", TapeOp::hard_swish},
                               Name{"HardSigmoid", TapeOp::hard_sigmoid},
                               Name{"Softplus", TapeOp::softplus},
                               Name{"Softsign", TapeOp::softsign},
                               Name{"Gelu", TapeOp::gelu},
                               Name{"Mish", TapeOp::mish},
                               Name{"Erf", TapeOp::erf},
                               Name{"Exp", TapeOp::exp},
                               Name{"Log", TapeOp::log},
                               Name{"Sqrt", TapeOp::sqrt},
                               Name{"Reciprocal", TapeOp::reciprocal},
                               Name{"Neg", TapeOp::negate},
                               Name{"Abs", TapeOp::abs},
                               Name{"Clip", TapeOp::clip},
                               Name{"Floor", TapeOp::floor},
                               Name{"Ceil", TapeOp::ceil},
                               Name{"Less", TapeOp::less},
                               Name{"Greater", TapeOp::greater},
                               Name{"LessOrEqual", TapeOp::less_or_equal},
                               Name{"GreaterOrEqual", TapeOp::greater_or_equal},
                               Name{"Equal", TapeOp::equal},
                               Name{"And", TapeOp::logical_and},
                               Name{"Or", TapeOp::logical_or},
                               Name{"Xor", TapeOp::logical_xor},
                               Name{"Where", TapeOp::select},
                               Name{"Round", TapeOp::round},
                               Name{"Sign", TapeOp::sign},
                               Name{"Sin", TapeOp::sine},
                               Name{"Cos", TapeOp::cosine},
                               Name{"Celu", TapeOp::celu},
                               Name{"ThresholdedRelu", TapeOp::thresholded_relu},
                               Name{"Not", TapeOp::logical_not},
                               Name{"IsNaN", TapeOp::is_nan},
                               Name{"IsInf", TapeOp::is_infinite}};

}  // namespace

class TapeMaker {
 public:
  TapeMaker(const Layer& layer, ir::ValueId given) : layer_(layer) {
    tape_.out_type_ = layer.outputs.front().dtype;
    if (!given.valid()) return;
    registers_[given] = 0;
    tape_.given_type_ = layer.desc_of(given).dtype;
  }

  std::optional<Tape> make(size_t first) {
    const TensorDesc& out = layer_.outputs.front();
    if (!is_readable(out.dtype) || !is_readable(tape_.given_type_)) return std::nullopt;
    tape_.extents_ = walked_extents(out);
    for (size_t i = first; i < layer_.nodes.size();) {
      const size_t taken = std::max(add_gelu(i), add_silu(i));
      if (taken == 0 && !add_step(layer_.nodes[i])) return std::nullopt;
      i += std::max<size_t>(taken, 1);
    }
    if (layer_.outputs.size() != 1 || !registers_.contains(layer_.output_values[0])) return std::nullopt;
    tape_.result_ = registers_[layer_.output_values[0]];
    if (tape_.registers_ > Tape::kMostRegisters) return std::nullopt;
    join_dims();
    return std::move(tape_);
  }

 private:
  // The register of an operand; -1: it does not fit the result.
  int register_of(ir::ValueId value) {
    const auto known = registers_.find(value);
    if (known != registers_.end()) return known->second;
    const int input = layer_.input_of(value);
    if (input < 0) return -1;
    const TensorDesc& desc = layer_.inputs[static_cast<size_t>(input)];
    std::optional<std::vector<int64_t>> strides = walked_strides(desc, layer_.outputs.front());
    if (!is_readable(desc.dtype) || !strides) return -1;
    tape_.operands_.push_back({.input = input, .strides = std::move(*strides), .dtype = desc.dtype});
    return registers_[value] = tape_.registers_++;
  }

  std::optional<float> number(ir::NodeId node, uint32_t index, float otherwise) const {
    const ir::ValueId value = layer_.operand(node, index);
    if (!value.valid()) return otherwise;
    const tensor::Tensor* const constant = layer_.constant(value);
    if (constant == nullptr || constant->count() != 1) return std::nullopt;
    return static_cast<float>(tensor::load_elements<double>(*constant).front());
  }

  bool read_numbers(ir::NodeId node, Tape::Step& step) const {
    const ops::Node facts = layer_.facts(node);
    const auto attribute = [&](const char* name, double otherwise) {
      return static_cast<float>(facts.floating(name, otherwise));
    };
    switch (step.op) {
      case TapeOp::leaky_relu:
        step.p = attribute("alpha", 0.01);
        return true;
      case TapeOp::elu:
      case TapeOp::celu:
      case TapeOp::thresholded_relu:
        step.p = attribute("alpha", 1);
        return true;
      case TapeOp::selu:
        step.p = attribute("alpha", 1.67326319217681884765625);
        step.q = attribute("gamma", 1.05070102214813232421875);
        return true;
      case TapeOp::hard_sigmoid:
        step.p = attribute("alpha", 0.2);
        step.q = attribute("beta", 0.5);
        return true;
      case TapeOp::is_infinite:
        step.p = facts.integer("detect_positive", 1) != 0 ? 1 : 0;
        step.q = facts.integer("detect_negative", 1) != 0 ? 1 : 0;
        return true;
      case TapeOp::gelu:
        if (facts.string("approximate", "none") == "tanh") step.op = TapeOp::gelu_tanh;
        return true;
      case TapeOp::dequantize:
      case TapeOp::quantize_signed:
        return read_quantizer(node, step);
      case TapeOp::clip:
        return read_bounds(node, facts, step);
      case TapeOp::copy:
        step.op = copy_to(layer_.desc_of(layer_.result(node, 0)).dtype);
        return true;
      default:
        return true;
    }
  }

  static TapeOp copy_to(tensor::DType dtype) {
    if (dtype == tensor::DType::boolean) return TapeOp::is_true;
    if (dtype == tensor::DType::float16) return TapeOp::round_to_float16;
    return dtype == tensor::DType::bfloat16 ? TapeOp::round_to_bfloat16 : TapeOp::copy;
  }

  bool read_quantizer(ir::NodeId node, Tape::Step& step) const {
    const std::optional<Quantizer> quantizer = find_quantizer(
        *layer_.model, *layer_.inference, node, [&](ir::ValueId value) { return layer_.constant(value); });
    if (!quantizer) return false;
    step.p = quantizer->scale;
    step.q = static_cast<float>(quantizer->zero);
    const bool is_unsigned = quantizer->codes == tensor::DType::uint8;
    if (step.op == TapeOp::quantize_signed && is_unsigned) step.op = TapeOp::quantize_unsigned;
    return true;
  }

  bool read_bounds(ir::NodeId node, const ops::Node& facts, Tape::Step& step) const {
    constexpr float kMost = std::numeric_limits<float>::max();
    constexpr int64_t kFirstWithInputs = 11;
    if (facts.version() < kFirstWithInputs) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();  // where the schema has no default
      step.p = static_cast<float>(facts.floating("min", -kInfinity));
      step.q = static_cast<float>(facts.floating("max", kInfinity));
      return true;
    }
    const std::optional<float> low = number(node, 1, -kMost);
    const std::optional<float> high = number(node, 2, kMost);
    step.p = low.value_or(0);
    step.q = high.value_or(0);
    return low && high;
  }

  // A written-out GELU becomes one step; returns of how many nodes it is, 0: there is none.
  size_t add_gelu(size_t first) {
    if (layer_.is_strict) return 0;
    for (const uint32_t index : {0U, 1U}) {
      const ir::ValueId given = layer_.operand(layer_.nodes[first], index);
      const SpelledGelu gelu = match_gelu(layer_, first, given);
      if (gelu.nodes == 0) continue;
      const ir::ValueId result = layer_.result(layer_.nodes[first + gelu.nodes - 1], 0);
      const int in = layer_.desc_of(result).count() == layer_.outputs[0].count() ? register_of(given) : -1;
      if (in < 0) return 0;
      push_step({.op = gelu.is_by_tanh ? TapeOp::gelu_tanh : TapeOp::gelu, .a = in}, result);
      return gelu.nodes;
    }
    return 0;
  }

  // The same for a Sigmoid times its operand.
  size_t add_silu(size_t first) {
    if (layer_.is_strict || layer_.nodes.size() < first + 2 || layer_.op(layer_.nodes[first]) != "Sigmoid") return 0;
    const ir::NodeId product = layer_.nodes[first + 1];
    const ir::ValueId given = layer_.operand(layer_.nodes[first], 0);
    const ir::ValueId share = layer_.result(layer_.nodes[first], 0);
    const std::array operands = {layer_.operand(product, 0), layer_.operand(product, 1)};
    const bool is_silu =
        layer_.op(product) == "Mul" && (operands == std::array{given, share} || operands == std::array{share, given});
    // The product has it as one operand, nothing else uses it.
    if (!is_silu || (*layer_.model)[share].first_use->next) return 0;
    const int in = register_of(given);
    if (in < 0 || layer_.desc_of(share).count() != layer_.outputs[0].count()) return 0;
    push_step({.op = TapeOp::silu, .a = in}, layer_.result(product, 0));
    return 2;
  }

  void push_step(Tape::Step step, ir::ValueId result) {
    step.out = registers_[result] = tape_.registers_++;
    tape_.operands_.push_back({.input = -1, .strides = {}});
    tape_.steps_.push_back(step);
  }

  bool add_step(ir::NodeId node) {
    const auto name = std::ranges::find(kNames, layer_.op(node), &Name::op);
    if (name == kNames.end() || !is_elementwise(*layer_.inference, *layer_.model, node)) return false;
    if (!layer_.result(node, 0).valid() ||
        layer_.desc_of(layer_.result(node, 0)).count() != layer_.outputs[0].count()) {
      return false;
    }
    Tape::Step step{.op = name->code};
    step.a = register_of(layer_.operand(node, 0));
    const bool is_binary = step.op <= kLastBinary;
    const bool is_choice = step.op == TapeOp::select;
    step.b = is_binary || is_choice ? register_of(layer_.operand(node, 1)) : 0;
    step.c = is_choice ? register_of(layer_.operand(node, 2)) : 0;
    if (step.a < 0 || step.b < 0 || step.c < 0 || !read_numbers(node, step)) return false;
    simplify_power(node, step);
    push_step(step, layer_.result(node, 0));
    return true;
  }

  // Squares and cubes are products.
  void simplify_power(ir::NodeId node, Tape::Step& step) const {
    if (step.op != TapeOp::power) return;
    const std::optional<float> exponent = number(node, 1, 1);
    if (exponent == 2.0F) {
      step.op = TapeOp::multiply;
      step.b = step.a;
    } else if (exponent == 3.0F) {
      step.op = TapeOp::cube;
    }
  }

  // Neighbours that every operand runs through alike become one.
  void join_dims() {
    std::vector<std::vector<int64_t>*> strides;
    for (Tape::Operand& operand : tape_.operands_) {
      if (operand.input >= 0) strides.push_back(&operand.strides);
    }
    join_walked(tape_.extents_, strides);
  }

  const Layer& layer_;
  Tape tape_;
  std::map<ir::ValueId, int> registers_;
};

std::optional<Tape> Tape::make(const Layer& layer, size_t first, ir::ValueId given) {
  return TapeMaker(layer, given).make(first);
}

// A call for rows that lie evenly, and its registers.
struct Tape::Call {
  Call(const Given& start, void* to, std::span<const Address> operands, const TapeRows& wanted)
      : given(start), out(static_cast<std::byte*>(to)), inputs(operands), rows(wanted) {}

  const Given& given;
  std::byte* out;
  std::span<const Address> inputs;
  const TapeRows& rows;
  std::array<TapeView, kMostRegisters> views;
  alignas(64) float tiles[kMostRegisters][kTapeTile];
};

// What is computed at a time: rows and columns of a call.
struct Tape::Part {
  int64_t row, column, rows, columns;
  int64_t pitch;  // of the rows of a register
};

void Tape::run(const void* given, void* out, std::span<const Address> inputs, int64_t begin, int64_t end) const {
  const int64_t inner = extents_.back();
  const auto* from = static_cast<const std::byte*>(given);
  auto* to = static_cast<std::byte*>(out);
  for (int64_t at = begin; at < end;) {
    const int64_t columns = std::min(inner - at % inner, end - at);
    const int64_t rows = columns == inner ? (end - at) / inner : 1;
    run_rows({from, inner}, to, inputs, {at, inner, rows, columns});
    at += rows * columns;
    if (from != nullptr) from += rows * columns * float_bytes(given_type_);
    to += rows * columns * float_bytes(out_type_);
  }
}

void Tape::run_rows(const Given& given, void* out, std::span<const Address> inputs, const TapeRows& rows) const {
  const int64_t inner = extents_.back();
  const bool lie_evenly = rows.rows == 1 || extents_.size() == 1 || (extents_.size() == 2 && rows.pitch % inner == 0);
  const bool is_within = extents_.size() == 1 || rows.first % inner + rows.columns <= inner;
  if (lie_evenly && is_within) return run_even(given, out, inputs, rows);
  for (int64_t row = 0; row < rows.rows; ++row) {
    const int64_t first = rows.first + row * rows.pitch;
    const auto* from = static_cast<const std::byte*>(given.first);
    if (from != nullptr) from += row * given.pitch * float_bytes(given_type_);
    auto* const to = static_cast<std::byte*>(out) + row * rows.pitch * float_bytes(out_type_);
    if (first % inner + rows.columns <= inner)
      run_even({from, 0}, to, inputs, {first, 0, 1, rows.columns});
    else
      run(from, to, inputs, first, first + rows.columns);
  }
}

void Tape::run_even(const Given& given, void* out, std::span<const Address> inputs, const TapeRows& rows) const {
  constexpr auto kMost = static_cast<int64_t>(kTapeTile);
  const int64_t pitch = rounded_up(std::min(rows.columns, kMost), kWholeVectors);
  const int64_t group = kMost / pitch;
  Call call(given, out, inputs, rows);
  for (int64_t row = 0; row < rows.rows; row += group) {
    for (int64_t column = 0; column < rows.columns; column += kMost) {
      run_part(call, {.row = row,
                      .column = column,
                      .rows = std::min(group, rows.rows - row),
                      .columns = std::min(kMost, rows.columns - column),
                      .pitch = pitch});
    }
  }
}

namespace {

// Elements `stride` apart, side by side.
void gather(tensor::DType dtype, const std::byte* from, int64_t stride, float* tile, size_t count) {
  const int64_t bytes = stride * float_bytes(dtype);
  for (size_t i = 0; i < count; ++i) {
    const std::byte* const element = from + static_cast<int64_t>(i) * bytes;
    const float* const number = read_floats(dtype, element, tile + i, 1);
    tile[i] = *number;
  }
}

void load_row(tensor::DType dtype, const std::byte* from, int64_t stride, float* tile, size_t count) {
  if (stride == 1) {
    load_floats(dtype, from, tile, count);
  } else if (stride == 0) {
    gather(dtype, from, 0, tile, 1);
    std::fill_n(tile, count, *tile);
  } else {
    gather(dtype, from, stride, tile, count);
  }
}

void round_to_half(const TapeView& x, const TapeTarget& out) {
  std::array<uint16_t, kTapeTile> halves;
  for (size_t r = 0; r < out.rows; ++r) {
    const auto row = static_cast<int64_t>(r);
    row_kernels().narrow_half(x.first + row * x.row, halves.data(), out.columns);
    row_kernels().widen_half(halves.data(), out.first + row * out.row, out.columns);
  }
}

}  // namespace

// A register of elements: their memory, or a tile. Kernels read whole vectors.
TapeView Tape::load(const Source& source, const Part& part, float* tile) {
  const bool is_whole = part.columns % kWholeVectors == 0;
  if (source.dtype == tensor::DType::float32 && source.stride == 1 && is_whole)
    return {reinterpret_cast<const float*>(source.first), source.row};
  for (int64_t r = 0; r < (source.row == 0 ? 1 : part.rows); ++r) {
    load_row(source.dtype, source.first + r * source.row * float_bytes(source.dtype), source.stride,
             tile + r * part.pitch, static_cast<size_t>(part.columns));
  }
  return {tile, source.row == 0 ? 0 : part.pitch};
}

void Tape::load_operand(Call& call, const Part& part, size_t index) const {
  const Operand& operand = operands_[index];
  const int64_t stride = operand.strides.back();
  const int64_t outer =
      operand.strides.size() == 1 ? stride * call.rows.pitch : operand.strides[0] * (call.rows.pitch / extents_.back());
  const int64_t row = call.rows.rows == 1 ? 0 : outer;
  const bool is_loaded = stride == 0 && (part.column > 0 || (part.row > 0 && row == 0));
  if (is_loaded) return;
  const int64_t offset =
      walked_offset(extents_, operand.strides, call.rows.first) + part.row * row + part.column * stride;
  const auto* const first = host<const std::byte>(call.inputs[static_cast<size_t>(operand.input)]);
  call.views[index + 1] =
      load({operand.dtype, first + offset * float_bytes(operand.dtype), stride, row}, part, call.tiles[index + 1]);
}

void Tape::run_part(Call& call, const Part& part) const {
  if (call.given.first != nullptr) {
    const int64_t offset = part.row * call.given.pitch + part.column;
    const auto* const first = static_cast<const std::byte*>(call.given.first) + offset * float_bytes(given_type_);
    call.views[0] = load({given_type_, first, 1, call.given.pitch}, part, call.tiles[0]);
  }
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].input < 0)
      call.views[i + 1] = {call.tiles[i + 1], part.pitch};
    else
      load_operand(call, part, i);
  }
  std::byte* const out = call.out + (part.row * call.rows.pitch + part.column) * float_bytes(out_type_);
  const bool is_in_place = part.columns % kWholeVectors == 0 && out_type_ == tensor::DType::float32;
  const auto columns = static_cast<size_t>(part.columns);
  for (const Step& step : steps_) {
    TapeTarget target{call.tiles[step.out], part.pitch, static_cast<size_t>(part.rows), columns};
    if (is_in_place && step.out == result_) {
      target.first = reinterpret_cast<float*>(out);
      target.row = call.rows.pitch;
    }
    run_step(call, step, target);
  }
  for (int64_t r = 0; r < (is_in_place ? 0 : part.rows); ++r) {
    store_floats(out_type_, call.tiles[result_] + r * part.pitch, out + r * call.rows.pitch * float_bytes(out_type_),
                 columns);
  }
}

void Tape::run_step(const Call& call, const Step& step, const TapeTarget& out) {
  const TapeKernels& kernels = tape_kernels();
  const TapeView a = call.views[static_cast<size_t>(step.a)];
  const TapeView b = call.views[static_cast<size_t>(step.b)];
  if (step.op <= kLastBinary)
    kernels.binary(step.op, a, b, out);
  else if (step.op == TapeOp::select)
    kernels.select(a, b, call.views[static_cast<size_t>(step.c)], out);
  else if (step.op == TapeOp::round_to_float16)
    round_to_half(a, out);
  else
    kernels.unary(step.op, a, out, step.p, step.q);
}

}  // namespace assay::engine::cpu
