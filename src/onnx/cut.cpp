#include "onnx/cut.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "onnx/fields.h"
#include "onnx/wire.h"

namespace assay::onnx {
namespace {

bool is_field_of_model(uint64_t number) {
  constexpr std::array kFields = {
      field::model::ir_version,    field::model::producer_name, field::model::producer_version,
      field::model::domain,        field::model::model_version, field::model::doc_string,
      field::model::graph,         field::model::opset_import,  field::model::metadata_props,
      field::model::training_info, field::model::functions};
  return std::ranges::find(kFields, number) != kFields.end();
}

}  // namespace

std::optional<std::string> describe_cut(Bytes bytes) {
  Bytes rest = bytes;
  while (!rest.empty()) {
    const std::optional<uint64_t> tag = take_varint(rest);
    const std::optional<uint64_t> content = tag && is_field_of_model(*tag >> 3) ? take_varint(rest) : std::nullopt;
    const auto type = static_cast<WireType>(tag.value_or(0) & 7);
    if (!content || (type != WireType::bytes && type != WireType::varint)) return std::nullopt;
    if (type == WireType::varint) continue;
    if (*content > rest.size()) {
      const uint64_t begin = bytes.size() - rest.size();
      return fmt::format("the file ends after {} of {} bytes or more: it was not copied or downloaded as a whole",
                         bytes.size(), begin + *content);
    }
    rest = rest.subspan(*content);
  }
  return std::nullopt;
}

}  // namespace assay::onnx
