#include "debug/causes/attribute_words.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ir/written.h"

namespace assay::debug {
namespace {

struct Words {
  std::string_view op;
  std::string_view attribute;
  std::string_view values;  // the first is the default
};

constexpr std::array kWords = {
    Words{"Resize", "mode", "nearest linear cubic"},
    Words{"Resize", "coordinate_transformation_mode",
          "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric"},
    Words{"Resize", "nearest_mode", "round_prefer_floor round_prefer_ceil floor ceil"},
    Words{"Upsample", "mode", "nearest linear"},
    Words{"GridSample", "mode", "linear nearest cubic bilinear bicubic"},
    Words{"GridSample", "padding_mode", "zeros border reflection"},
    Words{"RoiAlign", "mode", "avg max"},
    Words{"RoiAlign", "coordinate_transformation_mode", "half_pixel output_half_pixel"},
    Words{"Pad", "mode", "constant reflect edge wrap"},
    Words{"ScatterND", "reduction", "none add mul max min"},
    Words{"ScatterElements", "reduction", "none add mul max min"},
    Words{"DepthToSpace", "mode", "DCR CRD"},
    Words{"Gelu", "approximate", "none tanh"},
    Words{"BitShift", "direction", "LEFT RIGHT"},
    Words{"Conv", "auto_pad", "NOTSET SAME_UPPER SAME_LOWER"},
    Words{"ConvTranspose", "auto_pad", "NOTSET SAME_UPPER SAME_LOWER"},
    Words{"MaxPool", "auto_pad", "NOTSET SAME_UPPER SAME_LOWER"},
    Words{"AveragePool", "auto_pad", "NOTSET SAME_UPPER SAME_LOWER"},
    Words{"RNN", "direction", "forward reverse"},
    Words{"GRU", "direction", "forward reverse"},
    Words{"LSTM", "direction", "forward reverse"},
};

std::vector<AttributeWord> others(const ir::Model& model, const ir::Node& node, const Words& words) {
  const std::vector<std::string_view> values = split(words.values, ' ');
  const std::string_view own = ir::written_word(model, node, words.attribute).value_or(values.front());
  std::vector<AttributeWord> found;
  for (const std::string_view value : values) {
    if (value != own) found.push_back({words.attribute, value});
  }
  return found;
}

}  // namespace

std::vector<std::vector<AttributeWord>> other_words(const ir::Model& model, ir::NodeId node) {
  std::vector<std::vector<AttributeWord>> each, singles, pairs;
  for (const Words& words : kWords) {
    if (words.op == model.text(model[node].op)) each.push_back(others(model, model[node], words));
  }
  for (size_t i = 0; i < each.size(); ++i) {
    for (const AttributeWord& word : each[i]) singles.push_back({word});
    for (size_t k = i + 1; k < each.size(); ++k) {
      for (const AttributeWord& one : each[i]) {
        for (const AttributeWord& two : each[k]) pairs.push_back({one, two});
      }
    }
  }
  singles.insert(singles.end(), pairs.begin(), pairs.end());
  return singles;
}

}  // namespace assay::debug
