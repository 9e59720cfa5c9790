#include "cli/edit/constant_words.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/edit/attribute_words.h"
#include "tasks/data.h"
#include "tensor/elements.h"

namespace assay::cli {
namespace {

using tensor::DType;
using tensor::Tensor;

// By the kind of value that the word has.
struct TensorOf {
  std::string_view option;
  std::string_view word;

  Tensor operator()(int64_t number) const { return make<int64_t>(DType::int64, {}, {&number, 1}); }
  Tensor operator()(float number) const { return make<float>(DType::float32, {}, {&number, 1}); }
  Tensor operator()(const std::vector<int64_t>& list) const { return make_list<int64_t>(DType::int64, list); }
  Tensor operator()(const std::vector<float>& list) const { return make_list<float>(DType::float32, list); }
  Tensor operator()(const std::string& path) const { return load_one(option, path); }
  Tensor operator()(const std::vector<std::string>&) const {
    fail(ErrorCode::usage, "{}: expected numbers or a file, seen a list of text in `{}`", option, printable(word));
  }

 private:
  template <typename T>
  static Tensor make(DType dtype, tensor::Shape shape, std::span<const T> numbers) {
    return tensor::make_tensor<T>(dtype, std::move(shape), numbers);
  }
  template <typename T>
  static Tensor make_list(DType dtype, const std::vector<T>& list) {
    return make<T>(dtype, {static_cast<int64_t>(list.size())}, list);
  }
};

}  // namespace

Tensor load_one(std::string_view option, const std::string& path) {
  return with_frame([&] { return std::string(option); }, [&] { return tasks::load_tensor(path); });
}

surgery::NamedConstant parse_constant(std::string_view option, std::string_view word) {
  surgery::NamedAttribute item = parse_attribute(option, word, PlainText::file);
  return {std::move(item.name), std::visit(TensorOf{option, word}, item.value)};
}

}  // namespace assay::cli
