#include <array>

#include "tensorflow/import/families/window.h"
#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

void make_batch_normalization(Site& site) {
  if (site.attribute("is_training", 1) != 0) site.refuse("it normalizes by the batch, as in training");
  const std::string format = site.text("data_format", "NHWC");
  Window window{.spatial = format.find('D') == std::string::npos ? size_t{2} : 3, .is_first = format.starts_with("NC")};
  const auto epsilon = static_cast<float>(site.number("epsilon", 1e-4));
  const Values operands = {enter_window(site, window, site.input(0)), site.input(1), site.input(2), site.input(3),
                           site.input(4)};
  const ir::ValueId result = site.add("BatchNormalization", operands, {{"epsilon", epsilon}});
  site.give(0, leave_window(site, window, result));
}

void make_local_response(Site& site) {
  const int64_t size = 2 * site.attribute("depth_radius", 5) + 1;
  const double alpha = site.number("alpha", 1) * static_cast<double>(size);
  const NamedAttributes attributes = {{"size", size},
                                      {"alpha", static_cast<float>(alpha)},
                                      {"beta", static_cast<float>(site.number("beta", 0.5))},
                                      {"bias", static_cast<float>(site.number("bias", 1))}};
  const ir::ValueId first = site.build().channels_first(site.input(0));
  site.give(0, site.build().channels_last(site.add("LRN", {first}, attributes)));
}

// Along the last axis, with a least length of 1e-6.
void make_l2(Site& site) {
  const ir::ValueId x = site.input(0);
  const ir::ValueId length = site.add("ReduceL2", {x, site.build().integers({-1})});
  const ir::ValueId least = site.add("Max", {length, site.scalar_like(x, 1e-6)});
  site.give(0, site.activated(site.add("Div", {x, least})));
}

constexpr std::array kNormalizationRows = {
    Maker{"FusedBatchNorm", "", make_batch_normalization},
    Maker{"FusedBatchNormV2", "", make_batch_normalization},
    Maker{"FusedBatchNormV3", "", make_batch_normalization},
    Maker{"", "L2_NORMALIZATION", make_l2},
    Maker{"LRN", "LOCAL_RESPONSE_NORMALIZATION", make_local_response},
};

}  // namespace

Makers normalization_makers() { return kNormalizationRows; }

}  // namespace assay::tensorflow
