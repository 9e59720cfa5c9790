#include "onnx/printer/types.h"

#include "base/error.h"
#include "onnx/parser/lexer.h"
#include "onnx/printer/words.h"

namespace assay::onnx {

using ir::Type;
using ir::TypeId;
using ir::TypeKind;

void append_dtype(std::string& out, tensor::DType dtype) {
  if (tensor::is_known(dtype)) {
    out += tensor::onnx_name(dtype);
  } else {
    out += fmt::format("dtype({})", static_cast<int32_t>(dtype));
  }
}

void TypePrinter::append_named(std::string& out, TypeId type, std::string_view name) {
  if (type) {
    append(out, type);
    out += ' ';
  }
  append_name(out, name);
}

void TypePrinter::append(std::string& out, TypeId id, int depth) {
  if (!id) return;
  if (depth == kMaxTextDepth) fail(ErrorCode::limit, "types are nested more than {} deep", kMaxTextDepth);
  const Type& type = model_[id];
  append_kind(out, type, depth);
  if (type.denotation == ir::kEmpty) return;
  out += " @";
  append_quoted(out, model_.text(type.denotation));
}

void TypePrinter::append_kind(std::string& out, const Type& type, int depth) {
  switch (type.kind) {
    case TypeKind::tensor:
      return append_tensor(out, type);
    case TypeKind::opaque:
      return append_opaque(out, type);
    case TypeKind::sparse_tensor:
      out += "sparse_tensor(";
      append_tensor(out, type);
      break;
    default:
      append_wrapped(out, type, depth);
  }
  out += ')';
}

void TypePrinter::append_wrapped(std::string& out, const Type& type, int depth) {
  out += type.kind == TypeKind::map ? "map(" : type.kind == TypeKind::sequence ? "seq(" : "optional(";
  if (type.kind == TypeKind::map) {
    append_dtype(out, type.dtype);
    out += ", ";
  }
  append(out, type.element, depth + 1);
}

void TypePrinter::append_tensor(std::string& out, const Type& type) {
  append_dtype(out, type.dtype);
  if (type.ranked && type.dims.empty()) return;
  out += '[';
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (i > 0) out += ',';
    append_dim(out, type.dims[i]);
  }
  out += ']';
}

void TypePrinter::append_dim(std::string& out, ir::DimId dim) {
  const std::optional<int64_t> value = model_.dims().as_constant(dim);
  if (value) {
    append_number(out, *value);
  } else if (dim == ir::kUnknownDim) {
    out += '?';
  } else {
    append_word(out, model_.dims().text(dim, model_.symbols()));
  }
}

// The package `onnx` takes a domain with points, and a name with points where there is no domain.
void TypePrinter::append_opaque(std::string& out, const Type& type) {
  const std::string_view name = model_.text(type.name);
  const std::string_view domain = model_.text(type.domain);
  out += "opaque(";
  if (!domain.empty()) {
    append_dotted(out, domain);
    out += ',';
    append_word(out, name);
  } else if (!name.empty()) {
    append_dotted(out, name);
  }
  out += ')';
}

}  // namespace assay::onnx
