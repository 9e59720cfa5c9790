#include <algorithm>
#include <map>

#include "ops/operator.h"

namespace assay::ops {
namespace {

enum class Mode : uint8_t { tf, idf, tf_idf };

Mode mode_of(const Node& node) {
  const std::string_view name = node.string("mode");
  if (name == "TF") return Mode::tf;
  if (name == "IDF") return Mode::idf;
  if (name == "TFIDF") return Mode::tf_idf;
  fail(ErrorCode::shape, "there is no mode `{}`", name);
}

// Number of n-grams in the pool, by the starts of the lists of 1-grams, 2-grams and so on.
size_t gram_count(const std::vector<int64_t>& starts, size_t pool_size) {
  size_t count = 0;
  for (size_t n = 1; n <= starts.size(); ++n) {
    const int64_t end = n < starts.size() ? starts[n] : static_cast<int64_t>(pool_size);
    const int64_t length = end - starts[n - 1];
    const bool fits = starts[n - 1] >= 0 && length >= 0 && end <= static_cast<int64_t>(pool_size);
    if (!fits || length % static_cast<int64_t>(n) != 0) {
      fail(ErrorCode::shape, "`ngram_counts` from {} to {} is no list of {}-grams in a pool of {}", starts[n - 1], end,
           n, pool_size);
    }
    count += static_cast<size_t>(length) / n;
  }
  return count;
}

void check_attributes(const Node& node) {
  const int64_t least = node.integer("min_gram_length");
  const int64_t most = node.integer("max_gram_length");
  const auto lengths = static_cast<int64_t>(node.integers("ngram_counts").size());
  if (least < 1 || most < least || most > lengths) {
    fail(ErrorCode::shape, "gram lengths from {} to {} do not fit `ngram_counts` of {}", least, most, lengths);
  }
  if (node.integer("max_skip_count") < 0) fail(ErrorCode::shape, "`max_skip_count` is negative");
  const bool has_strings = node.has_attribute("pool_strings");
  if (has_strings == node.has_attribute("pool_int64s")) {
    fail(ErrorCode::shape, "one of `pool_strings` and `pool_int64s` must be given");
  }
  const size_t pool = has_strings ? node.strings("pool_strings").size() : node.integers("pool_int64s").size();
  const size_t grams = gram_count(node.integers("ngram_counts"), pool);
  const std::vector<int64_t> indexes = node.integers("ngram_indexes");
  const bool has_negative = std::ranges::any_of(indexes, [](int64_t index) { return index < 0 || index > INT32_MAX; });
  if (indexes.empty() || indexes.size() != grams || has_negative) {
    fail(ErrorCode::shape, "`ngram_indexes` must be {} places, it has {}", grams, indexes.size());
  }
  const size_t weights = node.floats("weights").size();
  if (weights != 0 && weights != grams) fail(ErrorCode::shape, "{} weights are given for {} n-grams", weights, grams);
}

int64_t width_of(const Node& node) { return std::ranges::max(node.integers("ngram_indexes")) + 1; }

void infer_vectorizer(Infer& node) {
  mode_of(node);
  check_attributes(node);
  const bool wants_strings = node.has_attribute("pool_strings");
  const DType dtype = node.dtype(0);
  if (dtype != DType::undefined && (dtype == DType::string) != wants_strings) {
    fail(ErrorCode::shape, "the pool does not have the type of the input, {}", tensor::name(dtype));
  }
  node.set_dtype(0, DType::float32);
  if (!node.is_ranked(0)) return;
  const Dims& dims = node.dims(0);
  if (dims.empty() || dims.size() > 2)
    fail(ErrorCode::shape, "the input must have a rank of 1 or 2, its shape is {}", text(dims));
  Dims result = dims;
  result.back() = width_of(node);
  node.set_dims(0, std::move(result));
}

// N-grams of the pool that are looked for, each with its number.
template <typename T>
using Pool = std::map<std::vector<T>, size_t>;

template <typename T>
Pool<T> make_pool(const Node& node, const std::vector<T>& words) {
  const std::vector<int64_t> starts = node.integers("ngram_counts");
  Pool<T> pool;
  size_t number = 0;
  for (size_t n = 1; n <= starts.size(); ++n) {
    const size_t end = n < starts.size() ? static_cast<size_t>(starts[n]) : words.size();
    for (auto at = static_cast<size_t>(starts[n - 1]); at < end; at += n, ++number) {
      const auto first = words.begin() + static_cast<ptrdiff_t>(at);
      pool.emplace(std::vector<T>(first, first + static_cast<ptrdiff_t>(n)), number);
    }
  }
  return pool;
}

template <typename T>
class Counter {
 public:
  Counter(const Node& node, const std::vector<T>& words)
      : pool_(make_pool(node, words)),
        least_(static_cast<size_t>(node.integer("min_gram_length"))),
        most_(static_cast<size_t>(node.integer("max_gram_length"))),
        skips_(static_cast<uint64_t>(node.integer("max_skip_count"))) {}

  // How often each n-gram of the pool occurs.
  std::map<size_t, double> count(std::span<const T> row) const {
    std::map<size_t, double> counts;
    for (size_t n = least_; n <= most_; ++n) {
      for (uint64_t step = 1; step <= skips_ + 1 && (n > 1 || step == 1) && step <= row.size(); ++step) {
        count_grams(row, n, step, counts);
      }
    }
    return counts;
  }

 private:
  void count_grams(std::span<const T> row, size_t n, uint64_t step, std::map<size_t, double>& counts) const {
    if (n > row.size()) return;
    std::vector<T> gram(n);
    for (size_t start = 0; start + (n - 1) * step < row.size(); ++start) {
      for (size_t k = 0; k < n; ++k) gram[k] = row[start + k * step];
      const auto found = pool_.find(gram);
      if (found != pool_.end()) counts[found->second] += 1;
    }
  }

  Pool<T> pool_;
  size_t least_;
  size_t most_;
  uint64_t skips_;
};

template <typename T>
std::vector<double> vectorize(const Eval& node, const std::vector<T>& words, const std::vector<T>& data) {
  const Counter<T> counter(node, words);
  const auto width = static_cast<uint64_t>(width_of(node));
  const std::vector<int64_t> indexes = node.integers("ngram_indexes");
  const std::vector<double> weights = node.floats("weights");
  const Mode mode = mode_of(node);
  const uint64_t rows = node.rank(0) == 2 ? static_cast<uint64_t>(node.shape(0)[0]) : 1;
  const uint64_t length = rows == 0 ? 0 : data.size() / rows;
  std::vector<double> result(rows * width);
  for (uint64_t row = 0; row < rows; ++row) {
    for (const auto& [gram, count] : counter.count(std::span(data).subspan(row * length, length))) {
      const double weight = weights.empty() || mode == Mode::tf ? 1 : weights[gram];
      result[row * width + static_cast<uint64_t>(indexes[gram])] += weight * (mode == Mode::idf ? 1 : count);
    }
  }
  return result;
}

void eval_vectorizer(Eval& node) {
  if (node.dtype(0) != DType::string) {
    return node.store(0, vectorize(node, node.integers("pool_int64s"), node.integers_in(0)));
  }
  std::vector<std::string> words;
  for (const std::string_view word : node.strings("pool_strings")) words.emplace_back(word);
  node.store(0, vectorize(node, words, node.load<std::string>(0)));
}

}  // namespace

OperatorRows operator_text_tf_idf_vectorizer() {
  static constexpr Operator kRows[] = {
      {.name = "TfIdfVectorizer", .since = 9, .infer = infer_vectorizer, .eval = eval_vectorizer},
  };
  return kRows;
}

}  // namespace assay::ops
