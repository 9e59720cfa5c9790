#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "formats/accuracy_classes.h"
#include "formats/accuracy_results.h"
#include "formats/json/json_reader.h"

namespace assay::formats {
namespace {

using Kind = JsonReader::Kind;

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), static_cast<size_t>(file.size())};
}

class AccuracyReader {
 public:
  explicit AccuracyReader(std::string_view text) : reader_(text) {}

  results::AccuracyResults read() {
    results::AccuracyResults comparisons;
    std::string class_name;
    reader_.begin_object();
    for (std::string key; reader_.next_key(key);) {
      if (key == "polygraphy_class") {
        class_name = reader_.string().text();
      } else if (key == "lst" && reader_.peek() == Kind::array) {
        reader_.begin_array();
        while (reader_.next_item()) {
          if (reader_.peek() == Kind::object)
            comparisons.push_back(read_comparison());
          else
            reader_.skip();
        }
      } else {
        reader_.skip();
      }
    }
    reader_.finish();
    if (class_name != "AccuracyResults") {
      const std::string seen = class_name.empty() ? "no object with a class" : "a `" + printable(class_name) + "`";
      throw Error(ErrorCode::parse, fmt::format("it holds {}, expected `AccuracyResults`", seen))
          .remedied_by("accuracy_results");
    }
    return comparisons;
  }

 private:
  results::SavedComparison read_comparison() {
    results::SavedComparison comparison;
    reader_.begin_object();
    for (std::string key; reader_.next_key(key);) {
      if (key == "aggregation") {
        comparison.is_average = reader_.string().text() == "average";
      } else if (key == "lst") {
        reader_.begin_array();
        while (reader_.next_item()) comparison.pairs.push_back(read_pair(comparison.function));
      } else {
        reader_.skip();
      }
    }
    return comparison;
  }

  std::string runner() {
    if (!reader_.next_item()) reader_.fail_here("expected the names of two runners");
    return reader_.string().text();
  }

  results::SavedPair read_pair(std::string& function) {
    results::SavedPair pair;
    reader_.begin_array();
    if (!reader_.next_item()) reader_.fail_here("expected the names of two runners");
    reader_.begin_array();
    pair.runner_a = runner();
    pair.runner_b = runner();
    if (reader_.next_item() || !reader_.next_item()) reader_.fail_here("expected two runners and a list of iterations");
    reader_.begin_array();
    while (reader_.next_item()) {
      std::vector<results::SavedMetrics>& iteration = pair.iterations.emplace_back();
      reader_.begin_object();
      for (std::string name; reader_.next_key(name);) iteration.push_back(read_metrics(name, function));
    }
    if (reader_.next_item()) reader_.fail_here("expected two runners and a list of iterations");
    return pair;
  }

  results::SavedMetrics read_metrics(const std::string& name, std::string& function) {
    results::SavedMetrics metrics;
    metrics.output = name;
    if (reader_.peek() == Kind::boolean) {
      metrics.passed = reader_.boolean();
      return metrics;
    }
    reader_.begin_object();
    for (std::string key; reader_.next_key(key);) read_field(key, metrics, function);
    return metrics;
  }

  void read_field(const std::string& key, results::SavedMetrics& metrics, std::string& function) {
    const auto known = std::ranges::find(kMetricClasses, key, &MetricClass::field);
    if (known != kMetricClasses.end()) {
      function = known->function;
      metrics.value = reader_.number();
    } else if (key == "thresholds" && reader_.peek() == Kind::object) {
      read_thresholds(metrics);
    } else if (key == "passed" && reader_.peek() == Kind::boolean) {
      metrics.passed = reader_.boolean();
    } else if (!read_simple(key, metrics)) {
      reader_.skip();
    } else {
      function = "simple";
    }
  }

  bool read_simple(std::string_view key, results::SavedMetrics& metrics) {
    const bool is_absolute = key.ends_with("_absdiff");
    if (!is_absolute && !key.ends_with("_reldiff")) return false;
    const std::string_view word = key.substr(0, key.rfind('_'));
    const auto found = std::ranges::find(kSimpleStatistics, word);
    if (found == kSimpleStatistics.end()) return false;
    std::optional<double>& place =
        (is_absolute ? metrics.absolute : metrics.relative)[static_cast<size_t>(found - kSimpleStatistics.begin())];
    if (reader_.peek() == Kind::null)
      reader_.null();
    else
      place = reader_.number();
    return true;
  }

  void read_thresholds(results::SavedMetrics& metrics) {
    reader_.begin_object();
    for (std::string key; reader_.next_key(key);) {
      if (key == "check_error_stat" && reader_.peek() == Kind::string)
        metrics.statistic = reader_.string().text();
      else if (key == "atol" && reader_.peek() == Kind::number)
        metrics.atol = reader_.number();
      else if (key == "rtol" && reader_.peek() == Kind::number)
        metrics.rtol = reader_.number();
      else if (key == "threshold" && reader_.peek() == Kind::number)
        metrics.bound = reader_.number();
      else
        reader_.skip();
    }
  }

  JsonReader reader_;
};

}  // namespace

results::AccuracyResults load_accuracy_results(const std::filesystem::path& path) {
  return with_frame([&] { return fmt::format("reading `{}`", printable(path.string())); },
                    [&] {
                      const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
                      return AccuracyReader(text_of(*file)).read();
                    });
}

bool is_accuracy_results(const std::filesystem::path& path) {
  constexpr size_t kTail = 100;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const std::string_view text = text_of(*file);
  const std::string_view tail = text.substr(text.size() > kTail ? text.size() - kTail : 0);
  return tail.find("\"AccuracyResults\"") != std::string_view::npos;
}

}  // namespace assay::formats
