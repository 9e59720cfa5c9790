#include <array>

#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

using tensor::DType;

bool keeps_dims(const Site& site) { return site.attribute("keep_dims", site.attribute("keepdims", 0)) != 0; }

// No axes in a list reduce nothing; axes that are left out do not occur.
ir::ValueId reduced(Site& site, std::string_view op, ir::ValueId value) {
  const ir::ValueId axes = site.build().as_int64(site.input(1));
  const std::optional<Ints> known = site.build().known_integers(axes);
  const ir::ValueId list = site.build().rank(axes) == 0 ? site.build().reshape(axes, {1}) : axes;
  if (known && known->empty()) return value;
  return site.add(op, {value, list}, {{"keepdims", int64_t{keeps_dims(site)}}});
}

// A mean over height and width of a value with channels last, with both kept or both gone.
ir::ValueId spatial_mean(Site& site, ir::ValueId value) {
  const std::optional<Ints> axes = site.build().known_integers(site.input(1));
  const bool is_spatial = axes && site.build().rank(value) == size_t{4} &&
                          (*axes == Ints{1, 2} || *axes == Ints{2, 1} || *axes == Ints{-3, -2});
  if (!is_spatial) return reduced(site, "ReduceMean", value);
  const ir::ValueId first = site.build().channels_first(value);
  const ir::ValueId pooled = site.add("GlobalAveragePool", {first});
  if (keeps_dims(site)) return site.build().channels_last(pooled);
  return site.add("Squeeze", {pooled, site.build().integers({2, 3})});
}

void make_mean(Site& site) {
  const ir::ValueId x = site.input(0);
  const bool is_floating = tensor::is_floating(site.build().dtype(x));
  site.give(0, is_floating ? spatial_mean(site, x) : reduced(site, "ReduceMean", x));
}

void make_reduction(Site& site) { site.give(0, reduced(site, site.target(), site.input(0))); }

// Booleans are reduced as 0 and 1.
void make_logical(Site& site) {
  const ir::ValueId numbers = site.build().cast(site.input(0), DType::int32);
  site.give(0, site.build().cast(reduced(site, site.target(), numbers), DType::boolean));
}

void make_arg(Site& site) {
  const int64_t axis = site.input_count() > 1 ? site.integer(1, "axis") : 0;
  const ir::ValueId found = site.add(site.target(), {site.input(0)}, {{"axis", axis}, {"keepdims", int64_t{0}}});
  site.give(0, site.build().cast(found, site.type_attribute("output_type", DType::int64)));
}

void make_cumulative_sum(Site& site) {
  const NamedAttributes attributes = {{"exclusive", site.attribute("exclusive", 0)},
                                      {"reverse", site.attribute("reverse", 0)}};
  site.give(0, site.add("CumSum", {site.input(0), site.input(1)}, attributes));
}

constexpr std::array kReductionRows = {
    Maker{"All", "REDUCE_ALL", make_logical, "ReduceMin"},   Maker{"Any", "REDUCE_ANY", make_logical, "ReduceMax"},
    Maker{"ArgMax", "ARG_MAX", make_arg, "ArgMax"},          Maker{"ArgMin", "ARG_MIN", make_arg, "ArgMin"},
    Maker{"Cumsum", "CUMSUM", make_cumulative_sum},          Maker{"EuclideanNorm", "", make_reduction, "ReduceL2"},
    Maker{"Max", "REDUCE_MAX", make_reduction, "ReduceMax"}, Maker{"Mean", "MEAN", make_mean},
    Maker{"Min", "REDUCE_MIN", make_reduction, "ReduceMin"}, Maker{"Prod", "REDUCE_PROD", make_reduction, "ReduceProd"},
    Maker{"Sum", "SUM", make_reduction, "ReduceSum"},
};

}  // namespace

Makers reduction_makers() { return kReductionRows; }

}  // namespace assay::tensorflow
