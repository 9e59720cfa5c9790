#include <array>

#include "tensorflow/import/families/window.h"
#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

void make_pool(Site& site, size_t spatial) {
  Window window = window_of(site, spatial);
  window.dilations.assign(spatial, 1);
  const ir::ValueId input = enter_window(site, window, site.input(0));
  NamedAttributes attributes = window.attributes();
  add_padding(site, window, input, attributes);
  site.give(0, site.activated(leave_window(site, window, site.add(site.target(), {input}, attributes))));
}

void make_pool2d(Site& site) { make_pool(site, 2); }
void make_pool3d(Site& site) { make_pool(site, 3); }

constexpr std::array kPoolingRows = {
    Maker{"AvgPool", "AVERAGE_POOL_2D", make_pool2d, "AveragePool"},
    Maker{"AvgPool3D", "", make_pool3d, "AveragePool"},
    Maker{"MaxPool", "MAX_POOL_2D", make_pool2d, "MaxPool"},
    Maker{"MaxPool3D", "", make_pool3d, "MaxPool"},
};

}  // namespace

Makers pooling_makers() { return kPoolingRows; }

}  // namespace assay::tensorflow
