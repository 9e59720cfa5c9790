#include <algorithm>
#include <map>
#include <unordered_map>

#include "ops/kernels/ml/key_places.h"
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

void check_lengths(const Node& node) {
  const int64_t least = node.integer("min_gram_length");
  const int64_t most = node.integer("max_gram_length");
  const auto lengths = static_cast<int64_t>(node.integers("ngram_counts").size());
  if (least < 1 || most < least || most > lengths) {
    fail(ErrorCode::shape, "gram lengths from {} to {} do not fit `ngram_counts` of {}", least, most, lengths);
  }
  if (node.integer("max_skip_count") < 0) fail(ErrorCode::shape, "`max_skip_count` is negative");
}

bool has_texts(const Node& node) {
  const bool has_strings = node.has_attribute("pool_strings");
  if (has_strings == node.has_attribute("pool_int64s")) {
    fail(ErrorCode::shape, "one of `pool_strings` and `pool_int64s` must be given");
  }
  return has_strings;
}

// Words by their numbers. An n-gram is a list of these.
using Word = uint32_t;
using Gram = std::vector<Word>;
constexpr Word kNoWord = UINT32_MAX;

template <typename T>
std::vector<Word> numbered(const KeyPlaces<T>& words, std::span<const T> row) {
  std::vector<Word> numbers;
  numbers.reserve(row.size());
  for (const T& word : row) numbers.push_back(static_cast<Word>(words.find(word).value_or(kNoWord)));
  return numbers;
}

struct GramHash {
  size_t operator()(const Gram& gram) const {
    size_t hash = 0;
    for (const Word word : gram) hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    return hash;
  }
};

class Vectorizer {
 public:
  explicit Vectorizer(const Node& node) : mode_(mode_of(node)) {
    check_lengths(node);
    least_ = static_cast<size_t>(node.integer("min_gram_length"));
    most_ = static_cast<size_t>(node.integer("max_gram_length"));
    skips_ = static_cast<uint64_t>(node.integer("max_skip_count"));
    takes_texts_ = has_texts(node);
    if (takes_texts_) {
      const std::vector<std::string_view> pool = node.strings("pool_strings");
      read_pool<std::string>(node, {pool.begin(), pool.end()}, texts_);
    } else {
      read_pool<int64_t>(node, node.integers("pool_int64s"), numbers_);
    }
    read_indexes(node);
  }

  bool takes_texts() const { return takes_texts_; }
  uint64_t width() const { return static_cast<uint64_t>(std::ranges::max(indexes_)) + 1; }

  std::vector<double> rows(std::span<const std::string> texts, uint64_t count) const {
    return rows_of(numbered(texts_, texts), count);
  }
  std::vector<double> rows(std::span<const int64_t> numbers, uint64_t count) const {
    return rows_of(numbered(numbers_, numbers), count);
  }

 private:
  template <typename T>
  void read_pool(const Node& node, const std::vector<T>& pool, KeyPlaces<T>& words) {
    const std::vector<int64_t> starts = node.integers("ngram_counts");
    gram_count_ = gram_count(starts, pool.size());
    words = KeyPlaces<T>(pool);
    const std::vector<Word> all = numbered<T>(words, pool);
    size_t number = 0;
    for (size_t n = 1; n <= starts.size(); ++n) {
      const size_t end = n < starts.size() ? static_cast<size_t>(starts[n]) : all.size();
      for (auto at = static_cast<size_t>(starts[n - 1]); at < end; at += n, ++number) {
        const auto first = all.begin() + static_cast<ptrdiff_t>(at);
        grams_.emplace(Gram(first, first + static_cast<ptrdiff_t>(n)), number);
      }
    }
  }

  void read_indexes(const Node& node) {
    indexes_ = node.integers("ngram_indexes");
    const bool fits = std::ranges::all_of(indexes_, [](int64_t index) { return index >= 0 && index <= INT32_MAX; });
    if (indexes_.empty() || indexes_.size() != gram_count_ || !fits) {
      fail(ErrorCode::shape, "`ngram_indexes` must be {} places, it has {}", gram_count_, indexes_.size());
    }
    weights_ = node.floats("weights");
    if (!weights_.empty() && weights_.size() != gram_count_) {
      fail(ErrorCode::shape, "{} weights are given for {} n-grams", weights_.size(), gram_count_);
    }
  }

  std::vector<double> rows_of(const std::vector<Word>& words, uint64_t count) const {
    const uint64_t length = count == 0 ? 0 : words.size() / count;
    std::vector<double> result(count * width());
    for (uint64_t row = 0; row < count; ++row) {
      add_row(std::span(words).subspan(row * length, length), std::span(result).subspan(row * width(), width()));
    }
    return result;
  }

  void add_row(std::span<const Word> row, std::span<double> result) const {
    std::map<size_t, double> counts;  // counts of the pool's n-grams
    for (size_t n = least_; n <= most_; ++n) {
      for (uint64_t step = 1; step <= skips_ + 1 && (n > 1 || step == 1) && step <= row.size(); ++step) {
        count_grams(row, n, step, counts);
      }
    }
    for (const auto& [gram, count] : counts) {
      const double weight = weights_.empty() || mode_ == Mode::tf ? 1 : weights_[gram];
      result[static_cast<size_t>(indexes_[gram])] += weight * (mode_ == Mode::idf ? 1 : count);
    }
  }

  void count_grams(std::span<const Word> row, size_t n, uint64_t step, std::map<size_t, double>& counts) const {
    if (n > row.size()) return;
    Gram gram(n);
    for (size_t start = 0; start + (n - 1) * step < row.size(); ++start) {
      for (size_t k = 0; k < n; ++k) gram[k] = row[start + k * step];
      const auto found = grams_.find(gram);
      if (found != grams_.end()) counts[found->second] += 1;
    }
  }

  Mode mode_;
  size_t least_ = 0;
  size_t most_ = 0;
  uint64_t skips_ = 0;
  bool takes_texts_ = false;
  KeyPlaces<std::string> texts_;
  KeyPlaces<int64_t> numbers_;
  size_t gram_count_ = 0;
  std::unordered_map<Gram, size_t, GramHash> grams_;  // each with its number
  std::vector<int64_t> indexes_;
  std::vector<double> weights_;
};

void infer_vectorizer(Infer& node) {
  const auto vectorizer = node.read<Vectorizer>();
  const DType dtype = node.dtype(0);
  if (dtype != DType::undefined && (dtype == DType::string) != vectorizer->takes_texts()) {
    fail(ErrorCode::shape, "the pool does not have the type of the input, {}", tensor::name(dtype));
  }
  node.set_dtype(0, DType::float32);
  if (!node.is_ranked(0)) return;
  const Dims& dims = node.dims(0);
  if (dims.empty() || dims.size() > 2)
    fail(ErrorCode::shape, "the input must have a rank of 1 or 2, its shape is {}", text(dims));
  Dims result = dims;
  result.back() = static_cast<int64_t>(vectorizer->width());
  node.set_dims(0, std::move(result));
}

void eval_vectorizer(Eval& node) {
  const auto vectorizer = node.read<Vectorizer>();
  const uint64_t rows = node.rank(0) == 2 ? static_cast<uint64_t>(node.shape(0)[0]) : 1;
  if (node.dtype(0) == DType::string) return node.store(0, vectorizer->rows(node.tensor_in(0).strings(), rows));
  node.store(0, vectorizer->rows(std::span<const int64_t>(node.integers_in(0)), rows));
}

}  // namespace

OperatorRows operator_text_tf_idf_vectorizer() {
  static constexpr Operator kRows[] = {
      {.name = "TfIdfVectorizer",
       .since = 9,
       .traits = {Nature::text},
       .infer = infer_vectorizer,
       .eval = eval_vectorizer},
  };
  return kRows;
}

}  // namespace assay::ops
