#include <array>

#include "tensorflow/import/importer.h"
#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

using tensor::DType;

// Items along an axis. With batch dimensions, which indices have too, each has items of its own.
void gather(Site& site, ir::ValueId table, int64_t axis, int64_t batch) {
  if (batch < 0) batch += static_cast<int64_t>(site.rank(site.input(1)));
  if (batch == 0) return site.give(0, site.add("Gather", {table, site.input(1)}, {{"axis", axis}}));
  if (axis < 0) axis = site.axis(axis, site.rank(table));
  if (axis != batch) site.refuse("it gathers along another axis than that behind its batch dimensions");
  const ir::ValueId indices =
      site.add("Unsqueeze", {site.build().as_int64(site.input(1)), site.build().integers({-1})});
  site.give(0, site.add("GatherND", {table, indices}, {{"batch_dims", batch}}));
}

void make_gather(Site& site) {
  const int64_t batch = site.attribute("batch_dims", 0);
  if (site.is_lite()) return gather(site, site.input(0), site.attribute("axis", 0), batch);
  gather(site, site.input(0), site.has(2) ? site.integer(2, "axis") : 0, batch);
}

void make_resource_gather(Site& site) {
  const ir::ValueId table = site.importer().variable(site.item(0));
  const int64_t batch = site.attribute("batch_dims", 0);
  gather(site, table, batch, batch);
}

void make_gather_nd(Site& site) {
  site.give(0, site.add("GatherND", {site.input(0), site.build().as_int64(site.input(1))}));
}

// Updates of one place add up.
void make_scatter_nd(Site& site) {
  const ir::ValueId shape = site.build().as_int64(site.input(2));
  const ir::ValueId zeros = site.add("Expand", {site.scalar_like(site.input(1), 0), shape});
  site.give(0, site.add("ScatterND", {zeros, site.build().as_int64(site.input(0)), site.input(1)},
                        {{"reduction", std::string("add")}}));
}

void make_scatter_update(Site& site) {
  site.give(0, site.add("ScatterND", {site.input(0), site.build().as_int64(site.input(1)), site.input(2)}));
}

void make_one_hot(Site& site) {
  const auto item = [&](size_t index) { return site.build().reshape(site.input(index), {1}); };
  const ir::ValueId values = site.add("Concat", {item(3), item(2)}, {{"axis", int64_t{0}}});
  const ir::ValueId depth = site.build().reshape(site.build().as_int64(site.input(1)), {1});
  const ir::ValueId indices = site.build().as_int64(site.input(0));
  site.give(0, site.add("OneHot", {indices, depth, values}, {{"axis", site.attribute("axis", -1)}}));
}

void make_top_k(Site& site) {
  const ir::ValueId count = site.build().reshape(site.build().as_int64(site.input(1)), {1});
  const Values found = site.build().add_many({"TopK", {site.input(0), count}, {{"axis", int64_t{-1}}}}, 2);
  site.give(0, found[0]);
  const DType type = site.is_lite() ? DType::int32 : site.type_attribute("index_type", DType::int32);
  site.give(1, site.build().cast(found[1], type));
}

// The indices of all that is not 0, a row each.
void make_where(Site& site) {
  const ir::ValueId found = site.add("NonZero", {site.input(0)});
  site.give(0, site.add("Transpose", {found}, {{"perm", Ints{1, 0}}}));
}

constexpr std::array kIndexRows = {
    Maker{"Gather", "", make_gather},
    Maker{"GatherNd", "GATHER_ND", make_gather_nd},
    Maker{"GatherV2", "GATHER", make_gather},
    Maker{"OneHot", "ONE_HOT", make_one_hot},
    Maker{"ResourceGather", "", make_resource_gather},
    Maker{"ScatterNd", "SCATTER_ND", make_scatter_nd},
    Maker{"TensorScatterUpdate", "", make_scatter_update},
    Maker{"TopKV2", "TOPK_V2", make_top_k},
    Maker{"Where", "WHERE", make_where},
};

}  // namespace

Makers index_makers() { return kIndexRows; }

}  // namespace assay::tensorflow
