#include "onnx/parser/external.h"

#include "base/error.h"
#include "base/text.h"

namespace assay::onnx {

tensor::Bytes TextExternalStorage::bytes() const {
  fail(ErrorCode::io, "data in `{}` cannot be read: an ONNX text does not name the folder that it is in",
       printable(location()));
}

std::string TextExternalStorage::location() const {
  for (const auto& [key, value] : entries_) {
    if (key == "location") return value;
  }
  return {};
}

}  // namespace assay::onnx
