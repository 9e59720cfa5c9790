#include "onnx/document.h"

#include "base/error.h"
#include "base/file_kind.h"
#include "onnx/cut.h"
#include "onnx/fields.h"

namespace assay::onnx {

Document Document::open(const std::filesystem::path& path) { return Document(MappedFile::open(path)); }

Document::Document(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {
  try {
    check_top_level();
  } catch (const Error&) {
    const std::optional<std::string> kind = describe_file_kind(file_->bytes());
    if (kind) throw Error(ErrorCode::parse, *kind + "; expected an ONNX model");
    if (const std::optional<std::string> cut = describe_cut(file_->bytes())) throw Error(ErrorCode::parse, *cut);
    throw;
  }
}

void Document::check_top_level() const {
  if (file_->size() == 0) fail(ErrorCode::parse, "the file is empty, expected an ONNX model");
  int graphs = 0;
  bool has_opset = false;
  int64_t ir_version = 0;
  FieldReader reader(root());
  for (Field field; reader.next(field);) {
    if (field.number == field::model::graph) ++graphs;
    if (field.number == field::model::opset_import) has_opset = true;
    if (field.number == field::model::ir_version) ir_version = as_int(field, "ir_version");
  }
  if (graphs != 1) fail(ErrorCode::parse, "not an ONNX model: it has {} graphs, expected one", graphs);
  if (!has_opset && ir_version >= 3) {
    fail(ErrorCode::parse, "not an ONNX model: IR version {} needs an opset_import, there is none", ir_version);
  }
}

}  // namespace assay::onnx
