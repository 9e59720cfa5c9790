#include "tensorflow/import/makers.h"

#include <array>
#include <map>

namespace assay::tensorflow {
namespace {

using ByName = std::map<std::string_view, const Maker*>;

ByName by_name(std::string_view Maker::*name) {
  ByName found;
  for (const Makers& family : all_makers()) {
    for (const Maker& row : family) {
      if (!(row.*name).empty()) found.emplace(row.*name, &row);
    }
  }
  return found;
}

}  // namespace

std::span<const Makers> all_makers() {
  static const std::array kFamilies = {
      elementwise_makers(), activation_makers(), reduction_makers(),     convolution_makers(),  pooling_makers(),
      matrix_makers(),      resize_makers(),     normalization_makers(), shape_makers(),        slice_makers(),
      join_makers(),        index_makers(),      block_makers(),         quantization_makers(), control_makers(),
      recurrent_makers(),   list_makers()};
  return kFamilies;
}

const Maker* find_maker(bool is_lite, std::string_view op) {
  static const ByName kLite = by_name(&Maker::lite);
  static const ByName kTensorFlow = by_name(&Maker::tensorflow);
  const ByName& names = is_lite ? kLite : kTensorFlow;
  const auto found = names.find(op);
  return found == names.end() ? nullptr : found->second;
}

}  // namespace assay::tensorflow
