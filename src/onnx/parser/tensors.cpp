#include "onnx/parser/tensors.h"

#include <fmt/core.h>

#include "onnx/parser/elements.h"

namespace assay::onnx {

using ir::TypeKind;

ir::TensorId TensorParser::parse(ir::TypeId type, std::string_view name) {
  ir::TensorEntry entry;
  entry.name = name;
  if (!type) lexer_.fail_at(lexer_.offset(), "a tensor needs a type before its name, as in `float[2] x = {1, 2}`");
  const ir::Type& known = model_[type];
  if (known.kind == TypeKind::sparse_tensor) {
    parse_sparse(known, entry);
  } else if (known.kind != TypeKind::tensor) {
    lexer_.fail_expected("no content for a type that is not a tensor's");
  } else if (lexer_.peek() == '[') {
    parse_external(known, entry);
  } else {
    entry.tensor = parse_elements(lexer_, known.dtype, concrete_shape(known));
  }
  return edit_.add_tensor(std::move(entry));
}

tensor::Shape TensorParser::concrete_shape(const ir::Type& type) {
  tensor::Shape shape;
  for (const ir::DimId dim : type.dims) {
    const std::optional<int64_t> value = model_.dims().as_constant(dim);
    if (!value) lexer_.fail_at(lexer_.offset(), "the dims of a tensor with content must be numbers");
    shape.push_back(*value);
  }
  if (!type.ranked) {
    lexer_.fail_at(lexer_.offset(), "a tensor with content needs its dims; a scalar is written without brackets");
  }
  if (!tensor::is_known(type.dtype)) {
    lexer_.fail_at(lexer_.offset(), fmt::format("elements of {} cannot be written as text", tensor::name(type.dtype)));
  }
  return shape;
}

tensor::Tensor TensorParser::parse_part() {
  const ir::TypeId type = types_.parse();
  if (model_[type].kind != TypeKind::tensor) lexer_.fail_expected("a dense tensor as part of a sparse one");
  const tensor::Shape shape = concrete_shape(model_[type]);
  return parse_elements(lexer_, model_[type].dtype, shape);
}

void TensorParser::parse_sparse(const ir::Type& type, ir::TensorEntry& entry) {
  const std::shared_ptr<ir::SparseTensor> sparse = std::make_shared<ir::SparseTensor>();
  sparse->dims = concrete_shape(type);
  if (!tensor::element_count(sparse->dims)) lexer_.fail_at(lexer_.offset(), "the dims of the tensor are too large");
  lexer_.expect('{');
  const size_t start = lexer_.offset();
  sparse->values = parse_part();
  if (sparse->values.dtype() != type.dtype) {
    lexer_.fail_at(start, fmt::format("expected values of {}, found {}", tensor::onnx_name(type.dtype),
                                      tensor::onnx_name(sparse->values.dtype())));
  }
  lexer_.expect(',');
  sparse->indices = parse_part();
  lexer_.expect('}');
  entry.sparse = sparse;
}

void TensorParser::parse_external(const ir::Type& type, ir::TensorEntry& entry) {
  tensor::Shape shape = concrete_shape(type);
  const size_t start = lexer_.offset();
  const std::optional<uint64_t> count = tensor::element_count(shape);
  const std::optional<uint64_t> size = count ? tensor::packed_bytes(type.dtype, *count) : std::nullopt;
  if (!size)
    lexer_.fail_at(start, "expected `{`, found `[`: strings, and dims that are too large, have no external data");
  const std::shared_ptr<TextExternalStorage> storage = std::make_shared<TextExternalStorage>(parse_entries(), *size);
  entry.external_location = edit_.keep(storage->location());
  if (entry.external_location.empty()) lexer_.fail_at(start, "expected external data with a \"location\", found none");
  entry.tensor = tensor::Tensor(type.dtype, std::move(shape), storage);
}

TextExternalStorage::Entries TensorParser::parse_entries() {
  TextExternalStorage::Entries entries;
  lexer_.expect('[');
  do {
    std::string key(lexer_.expect_quoted("a quoted key"));
    lexer_.expect(':');
    entries.emplace_back(std::move(key), lexer_.expect_quoted("a quoted value"));
  } while (lexer_.accept(','));
  lexer_.expect(']');
  return entries;
}

}  // namespace assay::onnx
