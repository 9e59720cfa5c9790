#include <cmath>
#include <map>

#include "ops/kernels/ml/ml_scores.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Numbers to texts or texts to numbers, by two lists of one length.
struct Categories {
  std::vector<int64_t> numbers;
  std::vector<std::string> texts;
};

Categories categories_of(const Node& node) {
  Categories categories{node.integers("cats_int64s"), {}};
  for (const std::string_view text : node.strings("cats_strings")) categories.texts.emplace_back(text);
  if (categories.numbers.size() != categories.texts.size()) {
    fail(ErrorCode::shape, "{} numbers and {} texts of categories are given", categories.numbers.size(),
         categories.texts.size());
  }
  return categories;
}

void set_opposite_dtype(Infer& node) {
  if (node.dtype(0) != DType::undefined)
    node.set_dtype(0, node.dtype(0) == DType::string ? DType::int64 : DType::string);
  infer_same_as_first(node);
}

void infer_category_mapper(Infer& node) {
  categories_of(node);
  set_opposite_dtype(node);
}

// Each element of input 0 looked up in a table of keys.
template <typename K, typename V>
void store_mapped(Eval& node, const std::vector<K>& keys, const std::vector<V>& values, const V& otherwise) {
  std::map<K, size_t> places;
  for (size_t i = 0; i < keys.size(); ++i) places.emplace(keys[i], i);
  std::vector<V> result;
  for (const K& element : node.load<K>(0)) {
    const auto found = places.find(element);
    result.push_back(found == places.end() ? otherwise : values[found->second]);
  }
  node.store(0, std::move(result));
}

void eval_category_mapper(Eval& node) {
  const Categories categories = categories_of(node);
  if (node.dtype(0) == DType::string) {
    store_mapped(node, categories.texts, categories.numbers, node.integer("default_int64"));
  } else {
    store_mapped(node, categories.numbers, categories.texts, std::string(node.string("default_string")));
  }
}

// Version 1: classes by their places.
void eval_class_encoder(Eval& node) {
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
  for (const std::string_view text : node.strings("classes_strings")) {
    numbers.push_back(static_cast<int64_t>(texts.size()));
    texts.emplace_back(text);
  }
  if (node.dtype(0) == DType::string) {
    store_mapped(node, texts, numbers, node.integer("default_int64"));
  } else {
    store_mapped(node, numbers, texts, std::string(node.string("default_string")));
  }
}

// Keys or values of a label encoder as a tensor, from whichever attribute holds them; `prefix` is `keys` or `values`.
std::optional<Tensor> table_of(const Node& node, std::string_view prefix) {
  const auto name = [&](std::string_view suffix) { return std::string(prefix) + std::string(suffix); };
  const auto shape = [](size_t count) { return Shape{static_cast<int64_t>(count)}; };
  if (const Tensor* tensor = node.find_tensor(name("_tensor"))) return *tensor;
  if (node.has_attribute(name("_strings"))) {
    std::vector<std::string> texts;
    for (const std::string_view text : node.strings(name("_strings"))) texts.emplace_back(text);
    return make_rounded(DType::string, shape(texts.size()), texts);
  }
  if (node.has_attribute(name("_int64s"))) {
    const std::vector<int64_t> numbers = node.integers(name("_int64s"));
    return make_rounded(DType::int64, shape(numbers.size()), numbers);
  }
  if (!node.has_attribute(name("_floats"))) return std::nullopt;
  const std::vector<double> numbers = node.floats(name("_floats"));
  return make_rounded(DType::float32, shape(numbers.size()), numbers);
}

void infer_label_encoder(Infer& node) {
  const std::optional<Tensor> keys = table_of(node, "keys");
  const std::optional<Tensor> values = table_of(node, "values");
  if (!keys || !values) fail(ErrorCode::shape, "the keys or the values are missing");
  if (keys->count() != values->count()) {
    fail(ErrorCode::shape, "{} keys and {} values are given", keys->count(), values->count());
  }
  if (node.dtype(0) != DType::undefined && keys->dtype() != node.dtype(0)) {
    fail(ErrorCode::shape, "keys are {}, the input is {}", tensor::name(keys->dtype()), tensor::name(node.dtype(0)));
  }
  const Tensor* other = node.find_tensor("default_tensor");
  if (other && (other->dtype() != values->dtype() || other->count() != 1)) {
    fail(ErrorCode::shape, "`default_tensor` must be one element of type {}", tensor::name(values->dtype()));
  }
  node.set_dtype(0, values->dtype());
  infer_same_as_first(node);
}

template <typename V>
V default_value(const Node& node, DType dtype) {
  if (const Tensor* tensor = node.find_tensor("default_tensor")) return load_elements<V>(*tensor).front();
  if constexpr (std::is_same_v<V, std::string>)
    return std::string(node.string("default_string"));
  else if constexpr (std::is_same_v<V, double>)
    return node.floating("default_float");
  else
    return static_cast<V>(dtype == DType::int64 ? node.integer("default_int64") : -1);
}

// Orders numbers with NaN behind all others, so that it can be a key.
struct KeyLess {
  template <typename K>
  bool operator()(const K& a, const K& b) const {
    if constexpr (std::is_floating_point_v<K>) {
      if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
    }
    return a < b;
  }
};

template <typename K, typename V>
void encode(Eval& node, const Tensor& keys, const Tensor& values) {
  const std::vector<K> from = load_elements<K>(keys);
  const std::vector<V> to = load_elements<V>(values);
  std::map<K, size_t, KeyLess> places;
  for (size_t i = 0; i < from.size(); ++i) places.emplace(from[i], i);
  const V otherwise = default_value<V>(node, values.dtype());
  const bool may_be_nan = node.version() >= 4;
  std::vector<V> result;
  for (const K& element : node.load<K>(0)) {
    const auto found = may_be_nan || element == element ? places.find(element) : places.end();
    result.push_back(found == places.end() ? otherwise : to[found->second]);
  }
  node.store(0, std::move(result));
}

template <typename Fn>
void with_element(DType dtype, Fn fn) {
  if (dtype == DType::string) return fn(std::string());
  with_carrier(dtype, fn);
}

void eval_label_encoder(Eval& node) {
  const Tensor keys = *table_of(node, "keys");
  const Tensor values = *table_of(node, "values");
  with_element(keys.dtype(), [&](auto key) {
    with_element(values.dtype(), [&](auto value) { encode<decltype(key), decltype(value)>(node, keys, values); });
  });
}

void infer_one_hot_encoder(Infer& node) {
  const ClassLabels categories = class_labels(node, "cats_int64s", "cats_strings");
  const DType dtype = node.dtype(0);
  if (dtype != DType::undefined && (dtype == DType::string) != categories.are_texts()) {
    fail(ErrorCode::shape, "the categories do not have the type of the input, {}", tensor::name(dtype));
  }
  node.set_dtype(0, DType::float32);
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  dims.emplace_back(static_cast<int64_t>(categories.count()));
  node.set_dims(0, std::move(dims));
}

// The place of each element among the categories.
template <typename K>
void store_one_hot(Eval& node, const std::vector<K>& categories, const std::vector<K>& elements) {
  std::map<K, size_t> places;
  for (size_t i = 0; i < categories.size(); ++i) places.insert_or_assign(categories[i], i);
  std::vector<double> result(elements.size() * categories.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto found = places.find(elements[i]);
    if (found != places.end()) {
      result[i * categories.size() + found->second] = 1;
    } else if (node.integer("zeros") == 0) {
      fail(ErrorCode::shape, "element {} has no category, and `zeros` is 0", i);
    }
  }
  node.store(0, std::move(result));
}

void eval_one_hot_encoder(Eval& node) {
  const ClassLabels categories = class_labels(node, "cats_int64s", "cats_strings");
  if (categories.are_texts()) return store_one_hot(node, categories.texts, node.load<std::string>(0));
  if (tensor::is_integer(node.dtype(0))) return store_one_hot(node, categories.numbers, node.integers_in(0));
  std::vector<int64_t> elements;
  for (const double x : node.load<double>(0)) {
    elements.push_back(std::abs(x) < 0x1p63 ? static_cast<int64_t>(x) : INT64_MIN);
  }
  store_one_hot(node, categories.numbers, elements);
}

}  // namespace

OperatorRows operator_ml_encoders() {
  constexpr std::string_view kMl = "ai.onnx.ml";
  static constexpr Operator kRows[] = {
      {.domain = kMl, .name = "CategoryMapper", .infer = infer_category_mapper, .eval = eval_category_mapper},
      {.domain = kMl, .name = "LabelEncoder", .infer = set_opposite_dtype, .eval = eval_class_encoder},
      {.domain = kMl, .name = "LabelEncoder", .since = 2, .infer = infer_label_encoder, .eval = eval_label_encoder},
      {.domain = kMl, .name = "OneHotEncoder", .infer = infer_one_hot_encoder, .eval = eval_one_hot_encoder},
  };
  return kRows;
}

}  // namespace assay::ops
