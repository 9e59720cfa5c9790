#include "engine/layers/element_op.h"

#include <algorithm>
#include <array>

namespace assay::engine {
namespace {

constexpr int64_t kFirstWithBroadcasting = 7;

struct Row {
  std::string_view op;
  ElementOp code;
  int64_t since = 1;
};

constexpr std::array kRows = {Row{"Add", ElementOp::add, kFirstWithBroadcasting},
                              Row{"Sub", ElementOp::subtract, kFirstWithBroadcasting},
                              Row{"Mul", ElementOp::multiply, kFirstWithBroadcasting},
                              Row{"Div", ElementOp::divide, kFirstWithBroadcasting},
                              Row{"Pow", ElementOp::power, kFirstWithBroadcasting},
                              Row{"PRelu", ElementOp::prelu, kFirstWithBroadcasting},
                              Row{"Less", ElementOp::less, kFirstWithBroadcasting},
                              Row{"Greater", ElementOp::greater, kFirstWithBroadcasting},
                              Row{"Equal", ElementOp::equal, kFirstWithBroadcasting},
                              Row{"And", ElementOp::logical_and, kFirstWithBroadcasting},
                              Row{"Or", ElementOp::logical_or, kFirstWithBroadcasting},
                              Row{"Xor", ElementOp::logical_xor, kFirstWithBroadcasting},
                              Row{"Max", ElementOp::maximum},
                              Row{"Min", ElementOp::minimum},
                              Row{"LessOrEqual", ElementOp::less_or_equal},
                              Row{"GreaterOrEqual", ElementOp::greater_or_equal},
                              Row{"Where", ElementOp::select},
                              Row{"Identity", ElementOp::copy},
                              Row{"Cast", ElementOp::copy},
                              Row{"DequantizeLinear", ElementOp::dequantize},
                              Row{"QuantizeLinear", ElementOp::quantize_signed},
                              Row{"Relu", ElementOp::relu},
                              Row{"LeakyRelu", ElementOp::leaky_relu},
                              Row{"Sigmoid", ElementOp::sigmoid},
                              Row{"Tanh", ElementOp::tanh},
                              Row{"Elu", ElementOp::elu},
                              Row{"Selu", ElementOp::selu},
                              Row{"HardSwish", ElementOp::hard_swish},
                              Row{"HardSigmoid", ElementOp::hard_sigmoid},
                              Row{"Softplus", ElementOp::softplus},
                              Row{"Softsign", ElementOp::softsign},
                              Row{"Gelu", ElementOp::gelu},
                              Row{"Mish", ElementOp::mish},
                              Row{"Erf", ElementOp::erf},
                              Row{"Exp", ElementOp::exp},
                              Row{"Log", ElementOp::log},
                              Row{"Sqrt", ElementOp::sqrt},
                              Row{"Reciprocal", ElementOp::reciprocal},
                              Row{"Neg", ElementOp::negate},
                              Row{"Abs", ElementOp::abs},
                              Row{"Clip", ElementOp::clip},
                              Row{"Floor", ElementOp::floor},
                              Row{"Ceil", ElementOp::ceil},
                              Row{"Round", ElementOp::round},
                              Row{"Sign", ElementOp::sign},
                              Row{"Sin", ElementOp::sine},
                              Row{"Cos", ElementOp::cosine},
                              Row{"Celu", ElementOp::celu},
                              Row{"ThresholdedRelu", ElementOp::thresholded_relu},
                              Row{"Not", ElementOp::logical_not},
                              Row{"IsNaN", ElementOp::is_nan},
                              Row{"IsInf", ElementOp::is_infinite},
                              Row{"Mod", ElementOp::modulo},
                              Row{"BitwiseAnd", ElementOp::bits_and},
                              Row{"BitwiseOr", ElementOp::bits_or},
                              Row{"BitwiseXor", ElementOp::bits_xor},
                              Row{"BitwiseNot", ElementOp::bits_not},
                              Row{"BitShift", ElementOp::shift_left}};

}  // namespace

std::optional<ElementOp> element_op(std::string_view op, int64_t version) {
  const auto* const row = std::ranges::find(kRows, op, &Row::op);
  return row == kRows.end() || version < row->since ? std::nullopt : std::optional(row->code);
}

}  // namespace assay::engine
