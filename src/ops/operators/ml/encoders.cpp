#include <cmath>
#include <numeric>

#include "ops/kernels/ml/key_places.h"
#include "ops/kernels/ml/ml_scores.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

std::vector<std::string> texts_of(const Node& node, std::string_view name) {
  const std::vector<std::string_view> texts = node.strings(name);
  return {texts.begin(), texts.end()};
}

// Calls fn with each element of input 0.
template <typename K, typename Fn>
void for_elements(const Eval& node, Fn fn) {
  if constexpr (std::is_same_v<K, std::string>) {
    for (const std::string& text : node.tensor_in(0).strings()) fn(text);
  } else {
    for (const K element : node.load<K>(0)) fn(element);
  }
}

// Each element of input 0 looked up among the keys.
template <typename K, typename V>
void store_mapped(Eval& node, const KeyPlaces<K>& keys, const std::vector<V>& values, const V& otherwise) {
  std::vector<V> result;
  result.reserve(node.count(0));
  for_elements<K>(node, [&](const K& element) {
    const std::optional<size_t> place = keys.find(element);
    result.push_back(place ? values[*place] : otherwise);
  });
  node.store(0, std::move(result));
}

// Numbers to texts or texts to numbers, by two lists of one length.
class Categories {
 public:
  Categories(const Node& node, std::vector<int64_t> numbers, std::vector<std::string> texts)
      : numbers_(std::move(numbers)),
        texts_(std::move(texts)),
        places_of_numbers_(numbers_),
        places_of_texts_(texts_),
        other_number_(node.integer("default_int64")),
        other_text_(node.string("default_string")) {
    if (numbers_.size() == texts_.size()) return;
    fail(ErrorCode::shape, "{} numbers and {} texts of categories are given", numbers_.size(), texts_.size());
  }

  void store(Eval& node) const {
    if (node.dtype(0) == DType::string) return store_mapped(node, places_of_texts_, numbers_, other_number_);
    store_mapped(node, places_of_numbers_, texts_, other_text_);
  }

 private:
  std::vector<int64_t> numbers_;
  std::vector<std::string> texts_;
  KeyPlaces<int64_t> places_of_numbers_;
  KeyPlaces<std::string> places_of_texts_;
  int64_t other_number_;
  std::string other_text_;
};

struct MapperCategories : Categories {
  explicit MapperCategories(const Node& node)
      : Categories(node, node.integers("cats_int64s"), texts_of(node, "cats_strings")) {}
};

std::vector<int64_t> first_numbers(size_t count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Version 1: classes by their places.
struct EncoderClasses : Categories {
  explicit EncoderClasses(const Node& node)
      : Categories(node, first_numbers(node.strings("classes_strings").size()), texts_of(node, "classes_strings")) {}
};

void set_opposite_dtype(Infer& node) {
  if (node.dtype(0) != DType::undefined)
    node.set_dtype(0, node.dtype(0) == DType::string ? DType::int64 : DType::string);
  infer_same_as_first(node);
}

void infer_category_mapper(Infer& node) {
  node.read<MapperCategories>();
  set_opposite_dtype(node);
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

constexpr int64_t kFirstWithNan = 4;  // the first version in which NaN is a key

class LabelMap {
 public:
  virtual ~LabelMap() = default;
  virtual void store(Eval& node) const = 0;
};

template <typename K, typename V>
class LabelMapOf final : public LabelMap {
 public:
  LabelMapOf(const Node& node, const Tensor& keys, const Tensor& values)
      : keys_(load_elements<K>(keys), node.version() >= kFirstWithNan),
        values_(load_elements<V>(values)),
        otherwise_(default_value<V>(node, values.dtype())) {}
  void store(Eval& node) const override { store_mapped(node, keys_, values_, otherwise_); }

 private:
  KeyPlaces<K> keys_;
  std::vector<V> values_;
  V otherwise_;
};

template <typename Fn>
void with_element(DType dtype, Fn fn) {
  if (dtype == DType::string) return fn(std::string());
  with_carrier(dtype, fn);
}

// The attributes of a LabelEncoder since version 2.
class LabelEncoding {
 public:
  explicit LabelEncoding(const Node& node) {
    const std::optional<Tensor> keys = table_of(node, "keys");
    const std::optional<Tensor> values = table_of(node, "values");
    if (!keys || !values) fail(ErrorCode::shape, "the keys or the values are missing");
    if (keys->count() != values->count()) {
      fail(ErrorCode::shape, "{} keys and {} values are given", keys->count(), values->count());
    }
    const Tensor* other = node.find_tensor("default_tensor");
    if (other && (other->dtype() != values->dtype() || other->count() != 1)) {
      fail(ErrorCode::shape, "`default_tensor` must be one element of type {}", tensor::name(values->dtype()));
    }
    key_type_ = keys->dtype();
    value_type_ = values->dtype();
    with_element(key_type_, [&](const auto& key) {
      with_element(value_type_, [&](const auto& value) {
        map_ = std::make_unique<LabelMapOf<std::remove_cvref_t<decltype(key)>, std::remove_cvref_t<decltype(value)>>>(
            node, *keys, *values);
      });
    });
  }

  DType key_type() const { return key_type_; }
  DType value_type() const { return value_type_; }
  void store(Eval& node) const { map_->store(node); }

 private:
  DType key_type_ = DType::undefined;
  DType value_type_ = DType::undefined;
  std::unique_ptr<const LabelMap> map_;
};

void infer_label_encoder(Infer& node) {
  const auto encoding = node.read<LabelEncoding>();
  if (node.dtype(0) != DType::undefined && encoding->key_type() != node.dtype(0)) {
    fail(ErrorCode::shape, "keys are {}, the input is {}", tensor::name(encoding->key_type()),
         tensor::name(node.dtype(0)));
  }
  node.set_dtype(0, encoding->value_type());
  infer_same_as_first(node);
}

template <typename K>
std::vector<K> reversed(const std::vector<K>& keys) {
  return {keys.rbegin(), keys.rend()};
}

// The categories; of equal ones, the last counts.
class OneHotCategories {
 public:
  explicit OneHotCategories(const Node& node)
      : labels_(class_labels(node, "cats_int64s", "cats_strings")),
        numbers_(reversed(labels_.numbers)),
        texts_(reversed(labels_.texts)),
        may_be_none_(node.integer("zeros") != 0) {}

  const ClassLabels& labels() const { return labels_; }
  std::optional<size_t> find(const std::string& text) const { return counted(texts_.find(text)); }
  std::optional<size_t> find(int64_t number) const { return counted(numbers_.find(number)); }
  std::optional<size_t> find(double number) const {
    return find(std::abs(number) < 0x1p63 ? static_cast<int64_t>(number) : INT64_MIN);
  }

  template <typename K>
  void store(Eval& node) const {
    std::vector<double> result(node.count(0) * labels_.count());
    size_t i = 0;
    for_elements<K>(node, [&](const K& element) {
      const std::optional<size_t> place = find(element);
      if (!place && !may_be_none_) fail(ErrorCode::shape, "element {} has no category, and `zeros` is 0", i);
      if (place) result[i * labels_.count() + *place] = 1;
      ++i;
    });
    node.store(0, std::move(result));
  }

 private:
  std::optional<size_t> counted(std::optional<size_t> from_the_end) const {
    return from_the_end ? std::optional(labels_.count() - 1 - *from_the_end) : std::nullopt;
  }

  ClassLabels labels_;
  KeyPlaces<int64_t> numbers_;
  KeyPlaces<std::string> texts_;
  bool may_be_none_;
};

void infer_one_hot_encoder(Infer& node) {
  const auto categories = node.read<OneHotCategories>();
  const DType dtype = node.dtype(0);
  if (dtype != DType::undefined && (dtype == DType::string) != categories->labels().are_texts()) {
    fail(ErrorCode::shape, "the categories do not have the type of the input, {}", tensor::name(dtype));
  }
  node.set_dtype(0, DType::float32);
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  dims.emplace_back(static_cast<int64_t>(categories->labels().count()));
  node.set_dims(0, std::move(dims));
}

void eval_one_hot_encoder(Eval& node) {
  const auto categories = node.read<OneHotCategories>();
  if (categories->labels().are_texts()) return categories->store<std::string>(node);
  if (tensor::is_integer(node.dtype(0))) return categories->store<int64_t>(node);
  categories->store<double>(node);
}

// Elements looked up in a table that is made of the attributes.
template <typename Table>
void eval_by_table(Eval& node) {
  node.read<Table>()->store(node);
}

}  // namespace

OperatorRows operator_ml_encoders() {
  constexpr std::string_view kMl = "ai.onnx.ml";
  static constexpr Operator kRows[] = {
      {.domain = kMl,
       .name = "CategoryMapper",
       .traits = {Nature::learner},
       .infer = infer_category_mapper,
       .eval = eval_by_table<MapperCategories>},
      {.domain = kMl,
       .name = "LabelEncoder",
       .traits = {Nature::learner},
       .infer = set_opposite_dtype,
       .eval = eval_by_table<EncoderClasses>},
      {.domain = kMl,
       .name = "LabelEncoder",
       .since = 2,
       .traits = {Nature::learner},
       .infer = infer_label_encoder,
       .eval = eval_by_table<LabelEncoding>},
      {.domain = kMl,
       .name = "OneHotEncoder",
       .traits = {Nature::learner},
       .infer = infer_one_hot_encoder,
       .eval = eval_one_hot_encoder},
  };
  return kRows;
}

}  // namespace assay::ops
