#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "assay/assay.h"
#include "base/temporary_folder.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNet = R"(
<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 4] x) => (float[2, 3] y)
<float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, float[3] b = {0.5, -1.5, 100}>
{
  [layer] h = MatMul(x, w)
  [sum] s = Add(h, b)
  [same] i = Identity(s)
  [activation] y = Relu(i)
})";

Values net_inputs() { return {{"x", Tensor({2, 4}, std::vector<float>{1, 0, 0, 0, 0, 0, 0, -1})}}; }

// Rows of w, with b and Relu, by hand.
const std::vector<float> kExpected = {1.5, 0.5, 103, 0, 0, 88};

std::vector<float> elements(const Tensor& tensor) {
  const std::span<const float> view = tensor.elements<float>();
  return {view.begin(), view.end()};
}

std::string number(float value) { return std::to_string(static_cast<int>(value)); }

ErrorCode code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::usage;
}

std::vector<std::string> ops(const Model& model) {
  std::vector<std::string> names;
  for (const NodeInfo& node : model.nodes()) names.push_back(node.op);
  return names;
}

size_t file_count(const fs::path& folder) {
  size_t count = 0;
  for ([[maybe_unused]] const fs::directory_entry& entry : fs::directory_iterator(folder)) ++count;
  return count;
}

TEST(Library, TensorsHoldWhatTheyWereGiven) {
  const Tensor tensor({2, 2}, std::vector<int64_t>{1, 2, 3, 4});
  EXPECT_STREQ(tensor.type(), "int64");
  EXPECT_EQ(tensor.count(), 4U);
  EXPECT_EQ(tensor.elements<int64_t>()[3], 4);
  EXPECT_EQ(code_of([&] { static_cast<void>(tensor.elements<float>()); }), ErrorCode::usage);
  EXPECT_EQ(code_of([] { Tensor({3}, std::vector<float>{1, 2}); }), ErrorCode::shape);
  EXPECT_EQ(code_of([] { Tensor("float31", {1}, {}); }), ErrorCode::usage);
  const Tensor text = Tensor::of_strings({2}, {"a", "b"});
  EXPECT_EQ(text.strings()[1], "b");
}

TEST(Library, ModelSaysWhatItIs) {
  const Model model = Model::from_text(kNet);
  EXPECT_TRUE(model.findings().empty());
  ASSERT_EQ(model.inputs().size(), 1U);
  EXPECT_EQ(model.inputs()[0].name, "x");
  EXPECT_EQ(model.inputs()[0].type, "float32");
  EXPECT_EQ(model.inputs()[0].shape, (std::vector<std::string>{"2", "4"}));
  EXPECT_EQ(ops(model), (std::vector<std::string>{"MatMul", "Add", "Identity", "Relu"}));
  EXPECT_EQ(model.nodes()[0].name, "layer");
  EXPECT_EQ(model.nodes()[1].inputs, (std::vector<std::string>{"h", "b"}));
}

TEST(Library, FilesAndBytesGiveTheSameModel) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "net.onnx").string();
  const Model model = Model::from_text(kNet);
  model.save(path, {.external_file = "net.data", .external_threshold = 0});
  EXPECT_TRUE(fs::exists(folder.path() / "net.data"));
  const Model loaded = Model::load(path);
  EXPECT_EQ(loaded.text(), model.text());
  EXPECT_EQ(Model::from_bytes(model.bytes()).text(), model.text());
  EXPECT_EQ(code_of([&] { Model::load((folder.path() / "none.onnx").string()); }), ErrorCode::io);
  EXPECT_EQ(code_of([] { Model::from_text("this is no model"); }), ErrorCode::parse);
}

TEST(Library, RunsAndComparesAModelThatExistsInMemoryOnly) {
  const Model model = Model::from_text(kNet);
  const RunReport report = model.run({.backends = {"ref", "ref-fp64"}, .inputs = {net_inputs()}});
  EXPECT_EQ(report.verdict, Verdict::equal);
  ASSERT_EQ(report.runs.size(), 2U);
  ASSERT_EQ(report.runs[0].outputs.size(), 1U);
  EXPECT_EQ(report.runs[0].outputs[0][0].first, "y");
  EXPECT_EQ(elements(report.runs[0].outputs[0][0].second), kExpected);
  ASSERT_EQ(report.comparisons.size(), 1U);
  EXPECT_TRUE(report.comparisons[0].iterations[0][0].passed);
  EXPECT_EQ(report.comparisons[0].iterations[0][0].count, 6U);
}

TEST(Library, EveryValueCanBeAskedFor) {
  const RunReport report = Model::from_text(kNet).run({.inputs = {net_inputs()}, .all_values = true});
  std::vector<std::string> names;
  for (const auto& [name, value] : report.runs[0].outputs[0]) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"h", "s", "i", "y"}));
}

TEST(Library, OutputsThatDifferAreMeasured) {
  const Values a = {{"y", Tensor({2}, std::vector<float>{1, 2.5})}};
  const Values b = {{"y", Tensor({2}, std::vector<float>{1, 2})}};
  const Comparison found = compare_outputs(a, b);
  EXPECT_EQ(found.verdict, Verdict::different);
  EXPECT_DOUBLE_EQ(found.iterations[0][0].max_absolute, 0.5);
  EXPECT_DOUBLE_EQ(found.iterations[0][0].max_relative, 0.25);
  EXPECT_EQ(found.iterations[0][0].failed_count, 1U);
  EXPECT_EQ(compare_outputs(a, b, {.absolute = 0.5}).verdict, Verdict::equal);
}

TEST(Library, LintFindsWhatIsWrong) {
  const auto has_exception = [](const Model& model) {
    for (const LintFinding& finding : model.lint()) {
      if (finding.level == LintFinding::Level::exception) return true;
    }
    return false;
  };
  EXPECT_FALSE(has_exception(Model::from_text(kNet)));
  EXPECT_TRUE(has_exception(Model::from_text(R"(
<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 4] x) => (float[2, 3] y) <float[5, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}>
{ y = MatMul(x, w) })")));
}

TEST(Library, EditsGiveOtherModels) {
  const Model model = Model::from_text(kNet);
  const Model simple = model.sanitize({.simplify = true});
  EXPECT_EQ(ops(simple), (std::vector<std::string>{"MatMul", "Add", "Relu"}));
  EXPECT_EQ(ops(model).size(), 4U);
  const Model part = model.extract({.inputs = {"h"}, .outputs = {"s"}});
  EXPECT_EQ(ops(part), (std::vector<std::string>{"Add"}));
  EXPECT_EQ(part.inputs()[0].shape, (std::vector<std::string>{"2", "3"}));
  const Model more = model.insert({.op = "Neg", .name = "negated", .inputs = {"s"}, .outputs = {"s"}});
  EXPECT_EQ(ops(more).size(), 5U);
  EXPECT_EQ(code_of([&] { static_cast<void>(model.sanitize({.passes = {"no-such-pass"}})); }), ErrorCode::usage);
}

TEST(Library, ConversionsKeepTheResult) {
  const Model model = Model::from_text(kNet);
  const Model half = model.to_half();
  const RunReport report = half.run({.inputs = {net_inputs()}});
  EXPECT_EQ(elements(report.runs[0].outputs[0][0].second), kExpected);  // numbers that float16 holds
  const Model integer = model.quantize({.inputs = {net_inputs()}, .backend = "ref"});
  EXPECT_NE(integer.text().find("QuantizeLinear"), std::string::npos);
}

class CancellingObserver final : public Observer {
 public:
  bool is_cancelled() override { return true; }
};

TEST(Library, ACancelledCallLeavesNothing) {
  const TemporaryFolder folder;
  const Model model = Model::from_text(kNet);
  CancellingObserver observer;
  EXPECT_EQ(code_of([&] { model.save((folder.path() / "net.onnx").string(), {}, &observer); }), ErrorCode::cancelled);
  EXPECT_EQ(code_of([&] { static_cast<void>(model.run({.iterations = 3}, &observer)); }), ErrorCode::cancelled);
  EXPECT_EQ(code_of([&] { static_cast<void>(model.sanitize({.fold_constants = true}, &observer)); }),
            ErrorCode::cancelled);
  EXPECT_EQ(file_count(folder.path()), 0U);
}

class CountingObserver final : public Observer {
 public:
  void on_finding(const Finding& finding) override {
    ++findings;
    remedy = finding.remedy;
  }
  void on_progress(const Progress& progress) override {
    ++steps;
    last[std::string(progress.what)] = {progress.done, progress.total};
  }
  int findings = 0;
  std::string remedy;  // of the last one
  int steps = 0;
  std::map<std::string, std::pair<uint64_t, uint64_t>> last;  // done and total of each kind of work
};

TEST(Library, ObserversSeeFindingsAndProgress) {
  CountingObserver observer;
  const Model open = Model::from_text(R"(
<ir_version: 8, opset_import: ["" : 17]> net (float[N] x) => (float[N] y) { y = Relu(x) })");
  static_cast<void>(open.run({.iterations = 3}, &observer));
  EXPECT_EQ(observer.steps, 3);
  EXPECT_EQ(observer.remedy, "input_shapes");
  EXPECT_GE(observer.findings, 1);  // the shape of x was made up
}

TEST(Library, CalibrationAndMeasurementSayHowMuchIsLeft) {
  CountingObserver observer;
  const Model two_layers = Model::from_text(R"(
<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 4] x) => (float[2, 2] y)
<float[4, 2] a = {1, 2, 3, 4, 5, 6, 7, 8}, float[2, 2] b = {1, 2, 3, 4}>
{ h = MatMul(x, a) r = Relu(h) y = MatMul(r, b) })");
  static_cast<void>(
      two_layers.quantize({.inputs = {net_inputs(), net_inputs()}, .least_snr_db = 1, .backend = "ref"}, &observer));
  for (const char* work : {"values calibrated", "values measured", "ranges tried"}) {
    ASSERT_TRUE(observer.last.contains(work)) << work;
    EXPECT_GT(observer.last[work].second, 0U) << work;
    EXPECT_EQ(observer.last[work].first, observer.last[work].second) << work;
  }
}

TEST(Library, CalibrationOfInputsAloneSaysHowMuchIsLeft) {
  CountingObserver observer;
  const Model layer = Model::from_text(R"(
<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 4] x) => (float[2, 2] y) <float[4, 2] a = {1, 2, 3, 4, 5, 6, 7, 8}> { y = MatMul(x, a) })");
  static_cast<void>(
      layer.quantize({.inputs = {net_inputs(), net_inputs(), net_inputs()}, .backend = "ref"}, &observer));
  EXPECT_EQ(observer.last["values calibrated"], (std::pair<uint64_t, uint64_t>{3, 3}));
}

// Ends the call once the second layer of an engine is planned.
class BuildEndingObserver final : public Observer {
 public:
  void on_progress(const Progress& progress) override { layers = progress.what == "layers" ? progress.done : layers; }
  bool is_cancelled() override { return layers == 2; }
  uint64_t layers = 0;
};

TEST(Library, BuildsOfEnginesSayHowMuchIsLeftAndCanBeEnded) {
  const Model model = Model::from_text(R"(
<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 4] x) => (float[2, 2] y)
{
  axis = Constant<value_int = 1>()
  t = Softmax(x) u = CumSum(t, axis) a, b = Split<axis = 1>(u) e = Erf(a) f = CumSum(b, axis) y = Add(e, f)
})");
  CountingObserver counting;
  static_cast<void>(model.run({.backends = {"engine"}}, &counting));
  EXPECT_GT(counting.last["layers"].second, 2U);
  EXPECT_EQ(counting.last["layers"].first, counting.last["layers"].second);

  BuildEndingObserver ending;
  EXPECT_EQ(code_of([&] { static_cast<void>(model.run({.backends = {"engine"}}, &ending)); }), ErrorCode::cancelled);
  EXPECT_EQ(ending.layers, 2U);
}

TEST(Library, OneModelServesTwoThreads) {
  const Model model = Model::from_text(kNet);
  std::atomic<int> right = 0;
  const auto work = [&] {
    for (int i = 0; i < 20; ++i) {
      const RunReport report = model.sanitize({.simplify = true}).run({.inputs = {net_inputs()}});
      right += elements(report.runs[0].outputs[0][0].second) == kExpected ? 1 : 0;
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(right, 40);
}

TEST(Library, TheSequenceIsSplitOverDevices) {
  const Model model = Model::from_text(R"(
<ir_version: 8, opset_import: ["" : 17]>
attention (float[2, seq_len, 4] q, float[2, 4, seq_len] k, float[2, seq_len, 4] v) => (float[2, seq_len, 4] o)
{ s = MatMul(q, k) p = Softmax <axis = -1> (s) o = MatMul(p, v) })");
  const std::vector<std::string> gathered = ops(model.shard({.devices = 2, .groups = {0, 1}}));
  // Three inputs are scattered; K, V and the output are gathered.
  EXPECT_EQ(std::ranges::count(gathered, "DistCollective"), 6);
  EXPECT_EQ(std::ranges::count(gathered, "Softmax"), 1);
  EXPECT_EQ(std::ranges::count(ops(model.shard({.fuse = true, .ranks = 2})), "Softmax"), 0);
  EXPECT_EQ(ops(model).size(), 3U);
  EXPECT_EQ(code_of([] { static_cast<void>(Model::from_text(kNet).shard()); }), ErrorCode::usage);
}

// The weights of `mlp`: [4, 4] and [4, 2].
const std::vector<float> kFirst = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
const std::vector<float> kSecond = {1, -2, 3, -4, 5, -6, 7, -8};

TEST(Library, WeightsAreSplitOverRanks) {
  const Model model = Model::from_text(R"(
<ir_version: 8, opset_import: ["" : 17]>
mlp (float[2, 4] x) => (float[2, 2] y)
<float[4, 4] a = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, float[4, 2] b = {1, -2, 3, -4, 5, -6, 7, -8}>
{ h = MatMul(x, a) r = Relu(h) y = MatMul(r, b) })");
  const std::vector<Model> ranks = model.split_weights(2);
  ASSERT_EQ(ranks.size(), 2U);
  for (size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(ops(ranks[rank]), (std::vector<std::string>{"MatMul", "Relu", "MatMul", "DistCollective"}));
    // The two products are split by columns and by rows.
    std::string columns;
    std::string rows;
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < 2; ++j) columns += (columns.empty() ? "" : ", ") + number(kFirst[4 * i + 2 * rank + j]);
    }
    for (size_t i = 0; i < 4; ++i) rows += (rows.empty() ? "" : ", ") + number(kSecond[4 * rank + i]);
    EXPECT_NE(ranks[rank].text().find("{" + columns + "}"), std::string::npos) << ranks[rank].text();
    EXPECT_NE(ranks[rank].text().find("{" + rows + "}"), std::string::npos) << ranks[rank].text();
  }
  EXPECT_EQ(code_of([&] { static_cast<void>(model.split_weights(1)); }), ErrorCode::usage);
}

void write_file(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(Library, PluginsReplaceSubgraphs) {
  const TemporaryFolder folder;
  write_file(folder.path() / "biased/pattern.yaml",
             "op: Biased\ndomain: own\ninputs: [x]\nconstants: [b]\noutputs: [y]\nnodes:\n"
             "  - {op: Add, inputs: [x, b], outputs: [y]}\nattributes: {sizes: [1, 2]}\n");
  write_file(folder.path() / "never/pattern.yaml",
             "op: Never\ninputs: [x]\noutputs: [y]\nnodes: [{op: Softmax, inputs: [x], outputs: [y]}]\n");
  const PluginOptions options = {.folder = folder.path().string()};
  EXPECT_EQ(list_plugins(options), (std::vector<std::string>{"biased", "never"}));
  EXPECT_EQ(list_plugins({.folder = options.folder, .excluded = {"never"}}), (std::vector<std::string>{"biased"}));
  EXPECT_EQ(code_of([&] { list_plugins({.folder = options.folder, .included = {"nobody"}}); }), ErrorCode::usage);
  const Model model = Model::from_text(kNet);
  const std::vector<PluginMatches> found = model.match_plugins(options);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].op, "Biased");
  ASSERT_EQ(found[0].instances.size(), 1U);
  EXPECT_EQ(found[0].instances[0].outputs, (std::vector<std::string>{"s"}));
  ASSERT_EQ(found[0].instances[0].attributes.size(), 1U);
  EXPECT_EQ(found[0].instances[0].attributes[0].second, AttributeValue(std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(found[1].instances.empty());
  const Model replaced = model.replace_plugins(found);
  EXPECT_EQ(ops(replaced), (std::vector<std::string>{"MatMul", "Biased", "Identity", "Relu"}));
  EXPECT_EQ(ops(model)[1], "Add");
}

TEST(Library, SavedDataComesBackInEveryForm) {
  const TemporaryFolder folder;
  const auto in = [&](const char* name) { return (folder.path() / name).string(); };
  save_data({.is_inputs = true, .runs = {{"", {net_inputs()}}}}, in("x.npz"));
  convert_data(in("x.npz"), in("x.json"), {.renamed = {{"x", "image"}}, .casts = {{"*", "float64"}}});
  const SavedData data = load_data(in("x.json"));
  EXPECT_TRUE(data.is_inputs);
  ASSERT_EQ(data.runs.size(), 1U);
  ASSERT_EQ(data.runs[0].iterations.size(), 1U);
  const auto& [name, value] = data.runs[0].iterations[0][0];
  EXPECT_EQ(name, "image");
  EXPECT_EQ(value.shape(), (Tensor::Shape{2, 4}));
  EXPECT_EQ(value.elements<double>()[7], -1);
  EXPECT_EQ(code_of([&] { convert_data(in("x.npz"), in("y.npz"), {.casts = {{"*", "float31"}}}); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { load_data(in("none.npz")); }), ErrorCode::io);
}

TEST(Library, SavedOutputsAreComparedRunByRun) {
  const TemporaryFolder folder;
  const std::string a = (folder.path() / "a.json").string();
  const std::string b = (folder.path() / "b.json").string();
  const Values low = {{"y", Tensor({2}, std::vector<float>{1, 2})}};
  const Values high = {{"y", Tensor({2}, std::vector<float>{1, 2.5})}};
  save_data({.is_inputs = false, .runs = {{"one", {low, low}}}}, a);
  save_data({.is_inputs = false, .runs = {{"two", {low, high}}}}, b);
  EXPECT_EQ(load_data(b).runs[0].runner, "two");
  const DataComparison found = compare_data(b, a);
  EXPECT_EQ(found.verdict, Verdict::different);
  ASSERT_EQ(found.comparisons.size(), 1U);
  EXPECT_EQ(found.comparisons[0].run_a, "two");
  ASSERT_EQ(found.comparisons[0].iterations.size(), 2U);
  EXPECT_TRUE(found.comparisons[0].iterations[0][0].passed);
  EXPECT_DOUBLE_EQ(found.comparisons[0].iterations[1][0].max_absolute, 0.5);
  EXPECT_EQ(compare_data(b, a, {.absolute = 0.5}).verdict, Verdict::equal);
}

TEST(Library, BackendsSayWhetherTheyCanBeUsed) {
  bool has_reference = false;
  for (const BackendInfo& backend : available_backends()) has_reference = has_reference || backend.name == "ref";
  EXPECT_TRUE(has_reference);
  const std::vector<Compatibility> found = Model::from_text(kNet).check_compatibility({"ref"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].accepts);
  EXPECT_EQ(code_of([] { static_cast<void>(Model::from_text(kNet).check_compatibility({"nobody"})); }),
            ErrorCode::usage);
}

}  // namespace
}  // namespace assay
