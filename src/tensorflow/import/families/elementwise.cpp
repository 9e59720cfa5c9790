#include <array>

#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

using tensor::DType;

void make_pointwise(Site& site) { site.give(0, site.activated(site.pointwise(site.target(), site.inputs()))); }

void make_negated(Site& site) { site.give(0, site.pointwise("Not", {site.pointwise(site.target(), site.inputs())})); }

void make_square(Site& site) { site.give(0, site.pointwise("Mul", {site.input(0), site.input(0)})); }

void make_rsqrt(Site& site) { site.give(0, site.pointwise("Reciprocal", {site.pointwise("Sqrt", {site.input(0)})})); }

void make_squared_difference(Site& site) {
  const ir::ValueId difference = site.pointwise("Sub", {site.input(0), site.input(1)});
  site.give(0, site.pointwise("Mul", {difference, difference}));
}

void make_log1p(Site& site) {
  const ir::ValueId x = site.input(0);
  site.give(0, site.pointwise("Log", {site.pointwise("Add", {x, site.scalar_like(x, 1)})}));
}

void make_expm1(Site& site) {
  const ir::ValueId x = site.input(0);
  site.give(0, site.pointwise("Sub", {site.pointwise("Exp", {x}), site.scalar_like(x, 1)}));
}

void make_erfc(Site& site) {
  const ir::ValueId x = site.input(0);
  site.give(0, site.pointwise("Sub", {site.scalar_like(x, 1), site.pointwise("Erf", {x})}));
}

void make_is_finite(Site& site) {
  const ir::ValueId x = site.input(0);
  const ir::ValueId is_not = site.pointwise("Or", {site.pointwise("IsNaN", {x}), site.pointwise("IsInf", {x})});
  site.give(0, site.pointwise("Not", {is_not}));
}

// The remainder with the sign of the divisor.
ir::ValueId floor_mod(Site& site, ir::ValueId x, ir::ValueId y) {
  if (!tensor::is_floating(site.build().dtype(x))) return site.pointwise("Mod", {x, y});
  const ir::ValueId whole = site.pointwise("Floor", {site.pointwise("Div", {x, y})});
  return site.pointwise("Sub", {x, site.pointwise("Mul", {whole, y})});
}

void make_floor_mod(Site& site) { site.give(0, floor_mod(site, site.input(0), site.input(1))); }

void make_floor_div(Site& site) {
  const ir::ValueId x = site.input(0);
  const ir::ValueId y = site.input(1);
  if (tensor::is_floating(site.build().dtype(x))) {
    return site.give(0, site.pointwise("Floor", {site.pointwise("Div", {x, y})}));
  }
  const ir::ValueId multiple = site.pointwise("Sub", {x, floor_mod(site, x, y)});
  site.give(0, site.pointwise("Div", {multiple, y}));
}

void make_truncate_mod(Site& site) { site.give(0, site.pointwise("Mod", site.inputs(), {{"fmod", int64_t{1}}})); }

void make_div_no_nan(Site& site) {
  const ir::ValueId zero = site.scalar_like(site.input(1), 0);
  const ir::ValueId is_zero = site.pointwise("Equal", {site.input(1), zero});
  site.give(0, site.pointwise("Where", {is_zero, zero, site.pointwise("Div", site.inputs())}));
}

void make_xlogy(Site& site) {
  const ir::ValueId zero = site.scalar_like(site.input(0), 0);
  const ir::ValueId is_zero = site.pointwise("Equal", {site.input(0), zero});
  const ir::ValueId product = site.pointwise("Mul", {site.input(0), site.pointwise("Log", {site.input(1)})});
  site.give(0, site.pointwise("Where", {is_zero, zero, product}));
}

void make_add_n(Site& site) { site.give(0, site.add("Sum", site.inputs())); }

void make_bias_add(Site& site) {
  const ir::ValueId x = site.input(0);
  ir::ValueId bias = site.input(1);
  if (site.text("data_format", "NHWC") == "NCHW") {
    Ints dims(site.rank(x) - 1, 1);
    dims.front() = -1;
    bias = site.build().reshape(bias, dims);
  }
  site.give(0, site.pointwise("Add", {x, bias}));
}

void make_cast(Site& site) {
  const ir::ValueId x = site.input(0);
  DType target = site.type_attribute("DstT", DType::undefined);
  if (target == DType::undefined) {
    const auto declared = site.declared_output(0);
    if (declared != nullptr) target = declared->dtype;
  }
  if (target == DType::undefined || target == DType::string) site.refuse("it casts to a type that is not imported");
  site.give(0, site.build().cast(x, target));
}

void make_filled_like(Site& site, double number) {
  const ir::ValueId x = site.input(0);
  site.give(0, site.add("Expand", {site.scalar_like(x, number), site.add("Shape", {x})}));
}

void make_zeros_like(Site& site) { make_filled_like(site, 0); }
void make_ones_like(Site& site) { make_filled_like(site, 1); }

// The first operand as it is.
void make_identity(Site& site) { site.give(0, site.item(0)); }

void make_identities(Site& site) {
  for (size_t i = 0; i < site.input_count(); ++i) site.give(i, site.item(i));
}

// `Select` takes one condition for each item of the first dimension too.
void make_select(Site& site) {
  ir::ValueId condition = site.input(0);
  if (site.build().rank(condition) == 1) {
    const size_t rank = site.rank(site.input(1));
    Ints dims(rank, 1);
    if (rank > 1) {
      dims.front() = -1;
      condition = site.build().reshape(condition, dims);
    }
  }
  site.give(0, site.pointwise("Where", {condition, site.input(1), site.input(2)}));
}

constexpr std::array kRows = {
    Maker{"Abs", "ABS", make_pointwise, "Abs"},
    Maker{"Acos", "", make_pointwise, "Acos"},
    Maker{"Acosh", "", make_pointwise, "Acosh"},
    Maker{"Add", "ADD", make_pointwise, "Add"},
    Maker{"AddN", "ADD_N", make_add_n},
    Maker{"AddV2", "", make_pointwise, "Add"},
    Maker{"Asin", "", make_pointwise, "Asin"},
    Maker{"Asinh", "", make_pointwise, "Asinh"},
    Maker{"Atan", "", make_pointwise, "Atan"},
    Maker{"Atanh", "", make_pointwise, "Atanh"},
    Maker{"BiasAdd", "", make_bias_add},
    Maker{"BiasAddV1", "", make_bias_add},
    Maker{"Cast", "CAST", make_cast},
    Maker{"Ceil", "CEIL", make_pointwise, "Ceil"},
    Maker{"CheckNumerics", "", make_identity},
    Maker{"Cos", "COS", make_pointwise, "Cos"},
    Maker{"Cosh", "", make_pointwise, "Cosh"},
    Maker{"Div", "DIV", make_pointwise, "Div"},
    Maker{"DivNoNan", "", make_div_no_nan},
    Maker{"EnsureShape", "", make_identity},
    Maker{"Equal", "EQUAL", make_pointwise, "Equal"},
    Maker{"Erf", "", make_pointwise, "Erf"},
    Maker{"Erfc", "", make_erfc},
    Maker{"Exp", "EXP", make_pointwise, "Exp"},
    Maker{"Expm1", "", make_expm1},
    Maker{"Floor", "FLOOR", make_pointwise, "Floor"},
    Maker{"FloorDiv", "FLOOR_DIV", make_floor_div},
    Maker{"FloorMod", "FLOOR_MOD", make_floor_mod},
    Maker{"Greater", "GREATER", make_pointwise, "Greater"},
    Maker{"GreaterEqual", "GREATER_EQUAL", make_pointwise, "GreaterOrEqual"},
    Maker{"Identity", "", make_identity},
    Maker{"IdentityN", "", make_identities},
    Maker{"Inv", "", make_pointwise, "Reciprocal"},
    Maker{"IsFinite", "", make_is_finite},
    Maker{"IsInf", "", make_pointwise, "IsInf"},
    Maker{"IsNan", "", make_pointwise, "IsNaN"},
    Maker{"Less", "LESS", make_pointwise, "Less"},
    Maker{"LessEqual", "LESS_EQUAL", make_pointwise, "LessOrEqual"},
    Maker{"Log", "LOG", make_pointwise, "Log"},
    Maker{"Log1p", "", make_log1p},
    Maker{"LogicalAnd", "LOGICAL_AND", make_pointwise, "And"},
    Maker{"LogicalNot", "LOGICAL_NOT", make_pointwise, "Not"},
    Maker{"LogicalOr", "LOGICAL_OR", make_pointwise, "Or"},
    Maker{"Maximum", "MAXIMUM", make_pointwise, "Max"},
    Maker{"Minimum", "MINIMUM", make_pointwise, "Min"},
    Maker{"Mod", "", make_truncate_mod},
    Maker{"Mul", "MUL", make_pointwise, "Mul"},
    Maker{"Neg", "NEG", make_pointwise, "Neg"},
    Maker{"NotEqual", "NOT_EQUAL", make_negated, "Equal"},
    Maker{"OnesLike", "", make_ones_like},
    Maker{"PlaceholderWithDefault", "", make_identity},
    Maker{"Pow", "POW", make_pointwise, "Pow"},
    Maker{"PreventGradient", "", make_identity},
    Maker{"RealDiv", "", make_pointwise, "Div"},
    Maker{"Reciprocal", "", make_pointwise, "Reciprocal"},
    Maker{"Rint", "", make_pointwise, "Round"},
    Maker{"Round", "ROUND", make_pointwise, "Round"},
    Maker{"Rsqrt", "RSQRT", make_rsqrt},
    Maker{"Select", "SELECT", make_select},
    Maker{"SelectV2", "SELECT_V2", make_pointwise, "Where"},
    Maker{"Sign", "SIGN", make_pointwise, "Sign"},
    Maker{"Sin", "SIN", make_pointwise, "Sin"},
    Maker{"Sinh", "", make_pointwise, "Sinh"},
    Maker{"Snapshot", "", make_identity},
    Maker{"Sqrt", "SQRT", make_pointwise, "Sqrt"},
    Maker{"Square", "SQUARE", make_square},
    Maker{"SquaredDifference", "SQUARED_DIFFERENCE", make_squared_difference},
    Maker{"StopGradient", "", make_identity},
    Maker{"Sub", "SUB", make_pointwise, "Sub"},
    Maker{"Tan", "", make_pointwise, "Tan"},
    Maker{"TruncateDiv", "", make_pointwise, "Div"},
    Maker{"TruncateMod", "", make_truncate_mod},
    Maker{"Xlogy", "", make_xlogy},
    Maker{"ZerosLike", "ZEROS_LIKE", make_zeros_like},
};

}  // namespace

Makers elementwise_makers() { return kRows; }

}  // namespace assay::tensorflow
