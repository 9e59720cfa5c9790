#include <fstream>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "formats/json/field_reader.h"
#include "formats/json/field_writer.h"
#include "results/fields/bench.h"
#include "results/fields/check.h"
#include "results/fields/debug.h"
#include "results/fields/edit.h"
#include "results/fields/model_diff.h"
#include "results/fields/pipeline.h"
#include "results/fields/saved.h"
#include "results/fields/sweep.h"
#include "results/fields/tensorflow.h"
#include "results/fields/view.h"

namespace assay::formats {
namespace {

// Gives each field of a result a content of its own. `is_full`: also those that may be absent.
class Filler {
 public:
  explicit Filler(bool is_full) : is_full_(is_full) {}

  void operator()(std::string_view, auto& member) { fill(member); }
  void some(std::string_view, auto& member) {
    if (is_full_) fill(member);
  }
  void when(bool, std::string_view, auto& member) { fill(member); }
  void or_null(bool, std::string_view, auto& member) { fill(member); }
  void marked(bool& flag, std::string_view, auto& member) {
    flag = is_full_;
    if (flag) fill(member);
  }
  void known(bool& flag, std::string_view key, auto& member) { marked(flag, key, member); }
  void detail(std::string_view, auto& member) { fill(member); }
  void told(std::string_view, const auto&) {}
  void told(std::string_view, const auto&, auto& member) { fill(member); }
  template <typename T>
  void word(std::string_view, T& member, const auto&) {
    member = static_cast<T>(1);
  }
  template <typename T>
  void inlined(std::string_view, std::optional<T>& member) {
    if (is_full_) fill(member);
  }
  void list(std::string_view, auto& items, auto&& describe) { describe(*this, items.emplace_back()); }
  void lists(std::string_view, auto& lists, auto&& describe) { describe(*this, lists.emplace_back().emplace_back()); }
  void part(std::string_view, auto&& describe) { describe(*this); }
  bool has(std::string_view, bool) { return true; }
  void command(std::string& member) { member = "some command"; }
  void gaps(std::string_view, std::vector<double>& numbers) {
    numbers = {0.25, std::numeric_limits<double>::quiet_NaN()};
  }
  void keyed(std::string_view, std::vector<std::pair<double, double>>& pairs) { pairs = {{99.5, 0.5}}; }
  void single(std::string_view key, std::string& text) { some(key, text); }
  void typed(std::string_view, std::string_view& type, results::AttributeListing::Value& value) {
    const auto fill_as = [&](std::string_view word, auto content) {
      fill(content);
      type = word;
      value = content;
    };
    is_full_ ? fill_as("FLOATS", std::vector<double>()) : fill_as("STRING", std::string());
  }
  void rest(std::vector<std::pair<std::string, std::string>>& words,
            std::vector<std::pair<std::string, double>>& numbers) {
    words = {{"a word", "text"}, {"Another", ""}};
    numbers = {{"a number", 0.5}, {"none", -std::numeric_limits<double>::infinity()}};
  }
  void amount(std::string_view, std::string& text) { text = is_full_ ? "1234" : "2 * batch"; }
  void numbers(bool& flag, std::string_view, std::vector<results::ListedDim>& dims) {
    flag = true;
    dims = {{7, ""}, {}};
  }
  void attributes(std::string_view, std::vector<results::NamedAttribute>& attributes) {
    attributes = {{"i", int64_t{7}},
                  {"f", 0.5F},
                  {"s", std::string("text")},
                  {"is", std::vector<int64_t>{1, 2}},
                  {"fs", std::vector<float>{0.5F, 2}},
                  {"ss", std::vector<std::string>{"a", "b"}},
                  {"none", std::vector<int64_t>()}};
  }

  template <typename T>
  void fill(T& member) {
    if constexpr (results::Described<T>) {
      results::Fields<T>::of(*this, member);
    } else if constexpr (std::is_same_v<T, bool>) {
      member = !member;
    } else if constexpr (std::is_floating_point_v<T>) {
      member = ++count_ % 5 == 0 ? -std::numeric_limits<T>::infinity() : static_cast<T>(count_) + T{0.125};
    } else if constexpr (std::is_integral_v<T>) {
      member = static_cast<T>(std::numeric_limits<T>::max() - static_cast<T>(++count_));
    } else {
      fill_parts(member);
    }
  }

 private:
  void fill_parts(std::string& text) { text = fmt::format("text \"{}\"", ++count_); }
  void fill_parts(std::string_view& text) { text = kept_word(fmt::format("word_{}", ++count_)); }
  void fill_parts(results::ListedDim& dim) { is_full_ ? fill(dim.value.emplace()) : fill(dim.symbol); }
  void fill_parts(auto& optional)
    requires requires { optional.value(); }
  {
    if (is_full_) fill(optional.emplace());
  }
  template <typename T>
  void fill_parts(std::vector<T>& items) {
    fill(items.emplace_back());
    fill(items.emplace_back());
  }
  template <typename A, typename B>
  void fill_parts(std::pair<A, B>& pair) {
    fill(pair.first);
    fill(pair.second);
  }
  template <typename T>
  void fill_parts(std::map<std::string, T>& pairs) {
    fill(pairs["a key"]);
    fill(pairs["Another"]);
  }

  bool is_full_;
  uint64_t count_ = 0;
};

template <typename T>
T filled(bool is_full) {
  T result;
  Filler(is_full).fill(result);
  return result;
}

template <typename T>
class FieldsOf : public testing::Test {};

using AllResults = testing::Types<
    results::AccuracyHunt, results::AccuracyListing, results::Bench, results::BenchSweep, results::BisectionReport,
    results::CalibrationStatistics, results::CapabilityReport, results::CompatibilityReport, results::ConversionReport,
    results::DataDifference, results::DataListing, results::DebugReport, results::DoctorReport, results::EditReport,
    results::EngineListing, results::TensorFlowListing, results::LintReport, results::ModelDiff, results::ModelOverview,
    results::NodeListing, results::PipelineReport, results::PluginReport, results::PrecisionReport,
    results::ProfileReport, results::RangeReport, results::ReduceReport, results::Rejudgement, results::RunReport,
    results::RuntimeReport, results::SameReport, results::SparsityReport, results::SweepPlan, results::SweepReport,
    results::SweepStatus, results::SweepUnit, results::TacticDiff, results::TacticListing, results::TacticReport,
    results::ValueComparison, results::ValueFacts, results::NodePort, results::OverlayField, results::OverlayGroup,
    results::OverlayNote, results::Overlay, results::OverlayRow, results::GraphListing, results::InitializerInfo,
    results::AttributeListing>;
TYPED_TEST_SUITE(FieldsOf, AllResults);

TYPED_TEST(FieldsOf, a_result_is_read_back_equal) {
  for (const TypeParam& result : {filled<TypeParam>(true), filled<TypeParam>(false), TypeParam()}) {
    const std::string json = json_text(result);
    EXPECT_EQ(json_text(read_report<TypeParam>(json)), json);
  }
}

// All names of fields in the text of an object.
std::set<std::string> names_in(const std::string& json) {
  static const std::regex kName("\"([a-z_0-9]+)\":");
  std::set<std::string> names;
  for (std::sregex_iterator at(json.begin(), json.end(), kName); at != std::sregex_iterator(); ++at) {
    names.insert((*at)[1]);
  }
  return names;
}

// The words in code marks of a text.
std::set<std::string> marked_words(const std::string& text) {
  static const std::regex kCode("`([^`\n]+)`");
  static const std::regex kWord("[A-Za-z_0-9]+");
  std::set<std::string> words;
  for (std::sregex_iterator at(text.begin(), text.end(), kCode); at != std::sregex_iterator(); ++at) {
    const std::string code = (*at)[1];
    for (std::sregex_iterator in(code.begin(), code.end(), kWord); in != std::sregex_iterator(); ++in) {
      words.insert(in->str());
    }
  }
  return words;
}

TYPED_TEST(FieldsOf, every_name_stands_in_the_documents) {
  if constexpr (requires { results::Fields<TypeParam>::kCommand; }) {
    std::ifstream file(ASSAY_SOURCE_DIR "/docs/formats.md");
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::set<std::string> known = marked_words(text);
    EXPECT_NE(text.find(schema_of(results::Fields<TypeParam>::kCommand)), std::string::npos);
    for (const bool is_full : {true, false}) {
      for (const std::string& name : names_in(json_text(filled<TypeParam>(is_full)))) {
        EXPECT_TRUE(known.contains(name)) << name;
      }
    }
  }
}

TEST(Fields, judgements_of_each_kind_are_read_back) {
  results::Judgement simple{.function = "simple", .passed = true, .statistic = "quantile", .atol = 0.5, .rtol = 0.25};
  simple.quantile = 0.99;
  simple.allowed_share = 0.125;
  simple.required_abs = 3;
  const results::Judgement read = read_report<results::Judgement>(json_text(simple));
  EXPECT_EQ(read.quantile, 0.99);
  EXPECT_EQ(read.allowed_share, 0.125);
  EXPECT_EQ(json_text(read), json_text(simple));
}

TEST(Fields, sweeps_are_read_back) {
  results::BenchSweep sweep;
  results::BenchSide side{.backend = "engine"};
  side.compute.count = 7;
  side.compute.median = 0.5;
  side.throughput = 2;
  sweep.points.emplace_back().bench.sides = {side, {.backend = "other", .failure = "it is not there"}};
  const std::string json = json_text(sweep);
  EXPECT_NE(json.find("median_seconds"), std::string::npos);
  EXPECT_EQ(json_text(read_report<results::BenchSweep>(json)), json);
}

TEST(Fields, what_is_missing_or_new_is_left_out) {
  const auto hunt = read_report<results::AccuracyHunt>(R"({"new": [1, {"a": 2}], "layers": [{"node": "n"}]})");
  ASSERT_EQ(hunt.layers.size(), 1u);
  EXPECT_EQ(hunt.layers[0].node, "n");
  EXPECT_EQ(hunt.layers[0].excess, 0);
}

TEST(Fields, attributes_of_each_type_are_read_back) {
  using Value = results::AttributeListing::Value;
  const std::vector<std::pair<std::string_view, Value>> values = {
      {"INT", int64_t{-7}},
      {"FLOAT", 2.0},
      {"STRING", std::string("2")},
      {"INTS", std::vector<int64_t>{}},
      {"FLOATS", std::vector<double>{1, 0.5}},
      {"STRINGS", std::vector<std::string>{"a"}},
      {"TENSOR", Value()},
  };
  for (const auto& [type, value] : values) {
    const results::AttributeListing attribute{.name = "a", .type = type, .reference = "", .value = value};
    const auto read = read_report<results::AttributeListing>(json_text(attribute));
    EXPECT_EQ(read.type, type);
    EXPECT_EQ(read.value, value) << type;
  }
}

TEST(Fields, other_fields_are_texts_and_numbers) {
  const auto row =
      read_report<results::OverlayRow>(R"({"op": "Add", "share": 0.5, "x": "inf", "items": [3], "b": true})");
  EXPECT_EQ(row.words, (std::vector<std::pair<std::string, std::string>>{{"op", "Add"}}));
  EXPECT_EQ(row.numbers.size(), 2u);
  EXPECT_EQ(row.items, std::vector<uint32_t>{3});
  const auto overlay =
      read_report<results::Overlay>(R"({"title": "t", "scene": 1, "cause": "c", "table": [{"a": 1}]})");
  EXPECT_EQ(overlay.title, "t");
  EXPECT_EQ(overlay.words, (std::vector<std::pair<std::string, std::string>>{{"cause", "c"}}));
  EXPECT_TRUE(overlay.numbers.empty());
  EXPECT_EQ(overlay.table.at(0).numbers.at(0).first, "a");
}

TEST(Fields, damage_is_an_error) {
  const auto read = [](std::string_view text) { return read_report<results::AccuracyHunt>(text); };
  EXPECT_THROW(read(R"({"layers": [)"), Error);
  EXPECT_THROW(read(R"({"layers": {"node": "n"}})"), Error);
  EXPECT_THROW(read(R"({"layers": [{"node": 7}]})"), Error);
  EXPECT_THROW(read(R"({"layer_count": 1.5})"), Error);
  EXPECT_THROW(read(R"({"layer_count": -1})"), Error);
  EXPECT_THROW(read(R"(7)"), Error);
}

}  // namespace
}  // namespace assay::formats
