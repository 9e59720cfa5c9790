#include <array>
#include <limits>

#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

// Operands of TFLite's LSTM, by number.
enum : size_t {
  kInput = 0,
  kInputWeights = 1,      // of the gates input, forget, cell, output
  kRecurrentWeights = 5,  // likewise
  kPeepholes = 9,         // of input, forget, output
  kBiases = 12,           // of input, forget, cell, output
  kProjection = 16,
  kProjectionBias = 17,
  kState = 18,
  kCell = 19,
  kNormalization = 20,  // four of them
};

// ONNX's order of the gates input, output, forget, cell, as places in TFLite's.
constexpr std::array<size_t, 4> kGates = {0, 3, 1, 2};

// The four operands from `first` on, in ONNX's order, as one, with a leading dimension for the direction.
ir::ValueId joined_gates(Site& site, size_t first) {
  Values gates;
  for (const size_t gate : kGates) gates.push_back(site.input(first + gate));
  const ir::ValueId all = site.add("Concat", gates, {{"axis", int64_t{0}}});
  return site.add("Unsqueeze", {all, site.build().integers({0})});
}

void refuse_variants(Site& site) {
  if (!site.has(kInputWeights)) site.refuse("its input gate is coupled with its forget gate");
  if (site.has(kProjection) || site.has(kProjectionBias)) site.refuse("its projection is not imported");
  for (size_t i = 0; i < 3; ++i) {
    if (site.has(kPeepholes + i)) site.refuse("its peepholes are not imported");
  }
  for (size_t i = 0; i < 4; ++i) {
    if (site.has(kNormalization + i)) site.refuse("its layer normalization is not imported");
  }
  if (site.text("activation", "") != "TANH") site.refuse("its activation is not tanh");
  if (site.number("cell_clip", 0) != 0) site.refuse("its clipped cell is not imported");
}

// States begin at 0, as variables of the interpreter do.
void make_sequence_lstm(Site& site) {
  refuse_variants(site);
  Builder& build = site.build();
  const std::optional<Sizes> sizes = build.sizes(site.input(kRecurrentWeights));
  if (!sizes || sizes->size() != 2 || !(*sizes)[1]) site.refuse("the shape of its weights is not known");
  const int64_t hidden = *(*sizes)[1];
  const bool is_time_major = site.attribute("time_major", 0) != 0;
  const ir::ValueId x = is_time_major ? site.input(kInput) : build.transpose(site.input(kInput), {1, 0, 2});
  const ir::ValueId biases = joined_gates(site, kBiases);
  const ir::ValueId none = site.add("Expand", {site.scalar_like(x, 0), build.integers({1, 4 * hidden})});
  const ir::ValueId both = site.add("Concat", {biases, none}, {{"axis", int64_t{1}}});
  const ir::ValueId all =
      site.add("LSTM", {x, joined_gates(site, kInputWeights), joined_gates(site, kRecurrentWeights), both},
               {{"hidden_size", hidden}});
  const ir::ValueId steps = site.add("Squeeze", {all, build.integers({1})});
  site.give(0, is_time_major ? steps : build.transpose(steps, {1, 0, 2}));
}

constexpr std::array kRecurrentRows = {
    Maker{"", "UNIDIRECTIONAL_SEQUENCE_LSTM", make_sequence_lstm},
};

}  // namespace

Makers recurrent_makers() { return kRecurrentRows; }

}  // namespace assay::tensorflow
