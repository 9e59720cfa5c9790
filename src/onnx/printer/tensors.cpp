#include "onnx/printer/tensors.h"

#include "base/error.h"
#include "base/text.h"
#include "onnx/parser/external.h"
#include "onnx/printer/elements.h"
#include "onnx/printer/types.h"
#include "onnx/printer/words.h"

namespace assay::onnx {

using tensor::Tensor;

namespace {

void append_tensor_type(std::string& out, tensor::DType dtype, const tensor::Shape& shape) {
  append_dtype(out, dtype);
  if (shape.empty()) return;
  out += '[';
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out += ',';
    append_number(out, shape[i]);
  }
  out += ']';
}

const TextExternalStorage* text_external(const Tensor& tensor) {
  return dynamic_cast<const TextExternalStorage*>(tensor.storage().get());
}

void append_external(std::string& out, const TextExternalStorage& storage) {
  out += '[';
  append_list(out, storage.entries(), [&](const std::pair<std::string, std::string>& entry) {
    append_quoted(out, entry.first);
    out += ": ";
    append_quoted(out, entry.second);
  });
  out += ']';
}

// A comment ends with its line, so that what follows stands on the next one.
void append_left_out(std::string& out, std::string_view what) { out += fmt::format("{{...}}  # {}\n   ", what); }

bool is_readable(const Tensor& tensor) {
  return std::holds_alternative<tensor::Bytes>(attempt([&] { return tensor.bytes(); }));
}

}  // namespace

void TensorPrinter::append(std::string& out, const ir::TensorEntry& entry, std::string_view name) {
  append_type(out, entry);
  out += ' ';
  if (!name.empty()) append_word(out, name);
  if (!name.empty()) out += ' ';
  if (!name.empty() || text_external(entry.tensor)) out += "= ";
  append_content(out, entry);
}

void TensorPrinter::append_initializer(std::string& out, const ir::TensorEntry& entry, std::string_view name) {
  append_type(out, entry);
  out += ' ';
  append_name(out, name);
  out += " = ";
  append_content(out, entry);
}

void TensorPrinter::append_type(std::string& out, const ir::TensorEntry& entry) {
  if (!entry.sparse) return append_tensor_type(out, entry.tensor.dtype(), entry.tensor.shape());
  out += "sparse_tensor(";
  append_tensor_type(out, entry.sparse->values.dtype(), entry.sparse->dims);
  out += ')';
}

void TensorPrinter::append_content(std::string& out, const ir::TensorEntry& entry) {
  const TextExternalStorage* external = text_external(entry.tensor);
  if (entry.sparse) {
    append_sparse(out, *entry.sparse);
  } else if (external) {
    append_external(out, *external);
  } else if (entry.stripped) {
    append_left_out(out, "stripped");
  } else if (!entry.external_location.empty() && !is_readable(entry.tensor)) {
    append_left_out(out, fmt::format("in `{}`, not read", printable(entry.external_location)));
  } else {
    append_elements(out, entry.tensor);
  }
}

void TensorPrinter::append_sparse(std::string& out, const ir::SparseTensor& sparse) {
  out += '{';
  append_part(out, sparse.values);
  out += ", ";
  append_part(out, sparse.indices);
  out += '}';
}

void TensorPrinter::append_part(std::string& out, const Tensor& tensor) {
  append_tensor_type(out, tensor.dtype(), tensor.shape());
  out += ' ';
  append_elements(out, tensor);
}

void TensorPrinter::append_elements(std::string& out, const Tensor& tensor) {
  if (tensor.count() > options_.most_elements) {
    append_left_out(out, fmt::format("{} elements left out", tensor.count()));
  } else if (!tensor::is_known(tensor.dtype())) {
    append_left_out(out, fmt::format("elements of {}", tensor::name(tensor.dtype())));
  } else {
    onnx::append_elements(out, tensor);
  }
}

}  // namespace assay::onnx
