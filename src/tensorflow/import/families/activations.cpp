#include <array>
#include <limits>

#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

void make_activation(Site& site) { site.give(0, site.pointwise(site.target(), {site.input(0)})); }

ir::ValueId clipped(Site& site, double least, double most) {
  const ir::ValueId x = site.input(0);
  return site.pointwise("Clip", {x, site.scalar_like(x, least), site.scalar_like(x, most)});
}

void make_relu6(Site& site) { site.give(0, clipped(site, 0, 6)); }
void make_relu_n1_to_1(Site& site) { site.give(0, clipped(site, -1, 1)); }
void make_relu_0_to_1(Site& site) { site.give(0, clipped(site, 0, 1)); }

void make_leaky_relu(Site& site) {
  const double alpha = site.number("alpha", 0.2);
  site.give(0, site.pointwise("LeakyRelu", {site.input(0)}, {{"alpha", static_cast<float>(alpha)}}));
}

void make_gelu(Site& site) {
  const std::string form = site.attribute("approximate", 0) != 0 ? "tanh" : "none";
  site.give(0, site.pointwise("Gelu", {site.input(0)}, {{"approximate", form}}));
}

void make_prelu(Site& site) { site.give(0, site.pointwise("PRelu", {site.input(0), site.input(1)})); }

void make_softmax(Site& site) {
  ir::ValueId x = site.input(0);
  const double beta = site.is_lite() ? site.number("beta", 1) : 1;
  if (beta != 1) x = site.pointwise("Mul", {x, site.scalar_like(x, beta)});
  site.give(0, site.add(site.target(), {x}, {{"axis", int64_t{-1}}}));
}

void make_log_softmax(Site& site) { site.give(0, site.add(site.target(), {site.input(0)}, {{"axis", int64_t{-1}}})); }

constexpr std::array kActivationRows = {
    Maker{"Elu", "ELU", make_activation, "Elu"},
    Maker{"", "GELU", make_gelu},
    Maker{"", "HARD_SWISH", make_activation, "HardSwish"},
    Maker{"LeakyRelu", "LEAKY_RELU", make_leaky_relu},
    Maker{"LogSoftmax", "LOG_SOFTMAX", make_log_softmax, "LogSoftmax"},
    Maker{"", "PRELU", make_prelu},
    Maker{"Relu", "RELU", make_activation, "Relu"},
    Maker{"Relu6", "RELU6", make_relu6},
    Maker{"", "RELU_0_TO_1", make_relu_0_to_1},
    Maker{"", "RELU_N1_TO_1", make_relu_n1_to_1},
    Maker{"Selu", "", make_activation, "Selu"},
    Maker{"Sigmoid", "LOGISTIC", make_activation, "Sigmoid"},
    Maker{"Softmax", "SOFTMAX", make_softmax, "Softmax"},
    Maker{"Softplus", "", make_activation, "Softplus"},
    Maker{"Softsign", "", make_activation, "Softsign"},
    Maker{"Tanh", "TANH", make_activation, "Tanh"},
};

}  // namespace

Makers activation_makers() { return kActivationRows; }

}  // namespace assay::tensorflow
