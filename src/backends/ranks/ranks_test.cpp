// Ranks that run together: what collectives give, on each backend, and how runs end in which a rank goes astray.
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "backends/ranks/meeting.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "exec/set_backend.h"
#include "onnx/export.h"
#include "simt/host_card.h"
#include "support/parsed_model.h"
#include "tensor/elements.h"

namespace assay::backends {
namespace {

using testing_support::parsed;
using Numbers = std::vector<float>;

constexpr std::string_view kHeader = "<ir_version: 8, opset_import: [\"\" : 17]> ";

class Outputs final : public exec::TensorSink {
 public:
  void accept(std::string_view, const tensor::Datum& value) override {
    const std::vector<double> elements = tensor::load_elements<double>(value.tensor());
    numbers.assign(elements.begin(), elements.end());
    shape = value.tensor().shape();
  }
  Numbers numbers;
  tensor::Shape shape;
};

struct RankedRun {
  exec::BackendPtr backend;
  exec::SessionOptions options = {};

  Outputs of(const ir::Model& model, const Numbers& x, const tensor::Shape& shape) const {
    Diagnostics findings;
    const std::unique_ptr<exec::Session> session = backend->prepare(model, options, findings);
    const exec::Feed feed{"x",
                          tensor::Datum(tensor::make_tensor(tensor::DType::float32, shape, std::span<const float>(x)))};
    const std::string name = session->signature().outputs[0].name;
    Outputs outputs;
    session->make_execution({})->run({&feed, 1}, {&name, 1}, outputs);
    return outputs;
  }

  std::string error_of(const std::string& text) const {
    const ir::Model model = parsed(std::string(kHeader) + text);
    const auto done = attempt([&] { return of(model, Numbers(16, 1), {8, 2}).numbers; });
    return std::holds_alternative<Error>(done) ? std::get<Error>(done).line() : "no error";
  }
};

RankedRun run_on(const std::string& backend, int64_t ranks) {
  if (backend == "card")
    return {exec::make_ranked_backend(fmt::format("ranks:{}", ranks), testing_support::host_card_backend())};
  return {exec::make_backend(fmt::format("{}:ranks:{}", backend, ranks))};
}

// Each rank has its rows of x; what all of them make of these is put together again.
std::string model_of(std::string_view operation, std::string_view reduction, int64_t ranks) {
  const auto collective = [&](std::string_view word, std::string_view how, std::string_view operand) {
    return fmt::format(
        "DistCollective <collective_operation = \"{}\", reduce_op = \"{}\", nb_rank = {}, root = {}> ({}) ", word, how,
        ranks, word == "broadcast" || word == "scatter" ? 1 : -1, operand);
  };
  return std::string(kHeader) + "g (float[32,3] x) => (float y) { p = " + collective("reduce_scatter", "max", "x") +
         "m = " + collective(operation, reduction, "p") + "y = " + collective("all_gather", "none", "m") + "}";
}

// The same by hand: the rows of each rank, then those that each gets.
std::vector<Numbers> parts_of(const Numbers& x, size_t ranks) {
  std::vector<Numbers> parts;
  const auto size = static_cast<std::ptrdiff_t>(x.size() / ranks);
  for (size_t i = 0; i < ranks; ++i) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(i) * size;
    parts.emplace_back(begin, begin + size);
  }
  return parts;
}

float combined(std::string_view reduction, const std::vector<Numbers>& parts, size_t at) {
  float sum = parts[0][at];
  for (size_t i = 1; i < parts.size(); ++i) {
    const float more = parts[i][at];
    sum = reduction == "prod"  ? sum * more
          : reduction == "min" ? std::min(sum, more)
          : reduction == "max" ? std::max(sum, more)
                               : sum + more;
  }
  return reduction == "avg" ? sum / static_cast<float>(parts.size()) : sum;
}

Numbers expected(std::string_view operation, std::string_view reduction, const std::vector<Numbers>& parts) {
  const size_t ranks = parts.size(), size = parts[0].size(), share = size / ranks;
  Numbers all;
  for (size_t rank = 0; rank < ranks; ++rank) {
    const auto add = [&](const Numbers& part, size_t begin, size_t count) {
      for (size_t i = 0; i < count; ++i) all.push_back(part[begin + i]);
    };
    Numbers sums(size);
    for (size_t i = 0; i < size; ++i) sums[i] = combined(reduction, parts, i);
    if (operation == "all_reduce" || operation == "reduce") add(sums, 0, size);
    if (operation == "reduce_scatter") add(sums, rank * share, share);
    if (operation == "broadcast") add(parts[1], 0, size);
    if (operation == "scatter") add(parts[1], rank * share, share);
    for (size_t i = 0; i < ranks; ++i) {
      if (operation == "all_gather" || operation == "gather") add(parts[i], 0, size);
      if (operation == "all_to_all") add(parts[i], rank * share, share);
    }
  }
  return all;
}

struct Kind {
  const char* operation;
  const char* reduction;
};
constexpr Kind kKinds[] = {{"all_reduce", "sum"},     {"all_reduce", "prod"}, {"all_reduce", "min"},
                           {"all_reduce", "max"},     {"all_reduce", "avg"},  {"reduce", "sum"},
                           {"reduce_scatter", "sum"}, {"all_gather", "none"}, {"broadcast", "none"},
                           {"gather", "none"},        {"scatter", "none"},    {"all_to_all", "none"}};

void check_kinds(const std::string& backend, int64_t ranks) {
  Numbers x(96);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i * 7 % 23) - 11) / 8;
  for (const Kind& kind : kKinds) {
    const ir::Model model = parsed(model_of(kind.operation, kind.reduction, ranks));
    const Outputs seen = run_on(backend, ranks).of(model, x, {32, 3});
    const Numbers wanted = expected(kind.operation, kind.reduction, parts_of(x, static_cast<size_t>(ranks)));
    EXPECT_EQ(seen.numbers, wanted) << backend << " " << ranks << " " << kind.operation << " " << kind.reduction;
  }
}

TEST(Ranks, CollectivesOfTheReference) {
  for (const int64_t ranks : {2, 4}) check_kinds("ref", ranks);
}
TEST(Ranks, CollectivesOfTheEngine) {
  for (const int64_t ranks : {2, 4}) check_kinds("engine", ranks);
}
TEST(Ranks, CollectivesOfACard) {
  for (const int64_t ranks : {2, 4}) check_kinds("card", ranks);
}

// The tactics of the layers of one rank.
std::vector<std::string> tactics(const std::string& backend) {
  const RankedRun run = run_on(backend, 2);
  const ir::Model model = parsed(model_of("all_reduce", "sum", 2));
  Diagnostics findings;
  const std::unique_ptr<exec::Session> session = run.backend->prepare(model, run.options, findings);
  const std::unique_ptr<exec::Execution> execution = session->make_execution({.profiles = true});
  const Numbers x(96, 1);
  const tensor::Shape shape = {32, 3};
  const exec::Feed feed{"x",
                        tensor::Datum(tensor::make_tensor(tensor::DType::float32, shape, std::span<const float>(x)))};
  const std::string name = "y";
  Outputs outputs;
  execution->run({&feed, 1}, {&name, 1}, outputs);
  std::vector<std::string> found;
  for (const exec::LayerSeconds& layer : execution->profile()) {
    if (layer.op.starts_with("collective") || layer.op == "DistCollective") found.push_back(layer.op);
  }
  return found;
}

TEST(Ranks, KernelsComputeCollectives) {
  EXPECT_EQ(tactics("ref"), std::vector<std::string>(3, "DistCollective"));
  EXPECT_EQ(tactics("engine"), std::vector<std::string>(3, "collective.ranks"));
  EXPECT_EQ(tactics("card"), std::vector<std::string>(3, "collective.peers"));
}

// Feeds that all ranks, or one of several copies, have on their cards: runs with them move nothing to the host.
TEST(Ranks, HeldFeedsStayOnCards) {
  const auto moved = [] {
    return testing_support::host_driver::uploads.load() + testing_support::host_driver::downloads.load();
  };
  const Numbers x(32 * 3, 1);
  const exec::Feed feed{"x",
                        tensor::Datum(tensor::make_tensor(tensor::DType::float32, {32, 3}, std::span<const float>(x)))};
  const ir::Model shared = parsed(model_of("all_reduce", "sum", 2));
  const ir::Model alone = parsed(std::string(kHeader) + "g (float[32,3] x) => (float[32,3] y) { y = Exp(x) }");
  for (const char* const words : {"ranks:2", "each:2"}) {
    const exec::BackendPtr backend = exec::make_ranked_backend(words, testing_support::host_card_backend());
    const ir::Model& model = words[0] == 'r' ? shared : alone;
    Diagnostics findings;
    const std::unique_ptr<exec::Session> session = backend->prepare(model, {}, findings);
    const std::unique_ptr<exec::Execution> execution = session->make_execution({});
    const std::string name = "y";
    const std::unique_ptr<exec::HeldFeeds> held = execution->hold({&feed, 1}, {&name, 1});
    ASSERT_NE(held, nullptr) << words;
    int before = moved();
    execution->run(*held, {&name, 1});
    execution->run(*held, {&name, 1});
    EXPECT_EQ(moved(), before) << words;
    Outputs outputs;
    before = moved();
    session->make_execution({})->run({&feed, 1}, {&name, 1}, outputs);
    EXPECT_GT(moved(), before) << words;
  }
  const RankedRun host = run_on("engine", 2);
  Diagnostics findings;
  const std::unique_ptr<exec::Session> session = host.backend->prepare(shared, {}, findings);
  EXPECT_EQ(session->make_execution({})->hold({&feed, 1}, {}), nullptr);
}

TEST(Ranks, EightMeetToo) {
  for (const char* const backend : {"ref", "engine", "card"}) {
    Numbers x(64);
    std::iota(x.begin(), x.end(), 1.F);
    const ir::Model model = parsed(std::string(kHeader) +
                                   "g (float[16,4] x) => (float y) { p = DistCollective <collective_operation = "
                                   "\"reduce_scatter\", reduce_op = \"sum\"> (x) y = DistCollective "
                                   "<collective_operation = \"all_gather\"> (p) }");
    Numbers wanted = x;
    for (float& number : wanted) number *= 8;
    const Outputs seen = run_on(backend, 8).of(model, x, {16, 4});
    EXPECT_EQ(seen.numbers, wanted) << backend;
    EXPECT_EQ(seen.shape, (tensor::Shape{16, 4})) << backend;
  }
}

// Parts of many elements are added up in shares, with the bits of a sum at once: also where shares are uneven.
TEST(Ranks, LargeSumsAreShared) {
  constexpr size_t kEach = 140'001, kRanks = 4;
  Numbers x(kEach * kRanks);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i * 7919 % 20011) - 10000) / 7;
  Numbers wanted(kEach);
  for (size_t i = 0; i < kEach; ++i) wanted[i] = x[i] + x[i + kEach] + x[i + 2 * kEach] + x[i + 3 * kEach];
  const std::string graph = fmt::format(
      "g (float[{0},1] x) => (float y) {{ p = DistCollective <collective_operation = \"reduce_scatter\", reduce_op = "
      "\"max\", nb_rank = 4> (x) s = DistCollective <collective_operation = \"all_reduce\", reduce_op = \"sum\", "
      "nb_rank = 4> (p) y = DistCollective <collective_operation = \"all_gather\", nb_rank = 4> (s) }}",
      x.size());
  const int copies = testing_support::host_driver::copies;
  const Outputs seen =
      run_on("card", kRanks).of(parsed(std::string(kHeader) + graph), x, {static_cast<int64_t>(x.size()), 1});
  ASSERT_EQ(seen.numbers.size(), x.size());
  constexpr int kFetched = 3 * 4, kGathered = 4 * 4;  // by all ranks
  EXPECT_EQ(testing_support::host_driver::copies - copies, kFetched + kGathered);
  for (size_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(
        std::equal(wanted.begin(), wanted.end(), seen.numbers.begin() + static_cast<std::ptrdiff_t>(rank * kEach)))
        << rank;
  }
}

// Two groups of two: each adds up for itself.
TEST(Ranks, GroupsMeetForThemselves) {
  for (const char* const backend : {"ref", "engine", "card"}) {
    const std::string graph =
        "g (float[8,1] x) => (float y) { p = DistCollective <collective_operation = \"reduce_scatter\", reduce_op = "
        "\"max\", nb_rank = 4> (x) m = DistCollective <collective_operation = \"all_reduce\", reduce_op = \"sum\", "
        "groups = [3, 0, 1, 2], group_size = 2> (p) y = DistCollective <collective_operation = \"all_gather\", nb_rank "
        "= 4> (m) }";
    const Outputs seen = run_on(backend, 4).of(parsed(std::string(kHeader) + graph), {1, 2, 3, 4, 5, 6, 7, 8}, {8, 1});
    EXPECT_EQ(seen.numbers, (Numbers{8, 10, 8, 10, 8, 10, 8, 10})) << backend;
  }
}

// Sums go from rank to rank in their order: (1e8 + -1e8) + 1, never 1e8 + (-1e8 + 1).
TEST(Ranks, SumsAreInTheOrderOfRanks) {
  for (const char* const backend : {"engine", "card"}) {
    const std::string graph =
        "g (float[4,1] x) => (float y) { p = DistCollective <collective_operation = \"reduce_scatter\", reduce_op = "
        "\"max\", nb_rank = 4> (x) y = DistCollective <collective_operation = \"all_reduce\", reduce_op = \"sum\", "
        "nb_rank = 4> (p) }";
    const Outputs seen = run_on(backend, 4).of(parsed(std::string(kHeader) + graph), {1e8F, -1e8F, 1, 2}, {4, 1});
    EXPECT_EQ(seen.numbers, Numbers{3}) << backend;
  }
}

TEST(Ranks, AloneARankIsRefused) {
  const std::string graph =
      "g (float[8,2] x) => (float y) { y = DistCollective <collective_operation = \"all_reduce\", "
      "reduce_op = \"sum\", nb_rank = 2> (x) }";
  EXPECT_EQ(RankedRun{exec::make_backend("ref")}.error_of(graph),
            "the DistCollective node of `y`: the model is that of one rank, and the other ranks do not run");
  EXPECT_EQ(run_on("ref", 4).error_of(graph), "the DistCollective node of `y` is made for 2 ranks, and 4 run");
}

TEST(Ranks, NodesThatMakeNoSenseAreRefused) {
  const auto refusal = [](const std::string& node) {
    std::string all;
    for (const char* const backend : {"ref", "engine"}) {
      const std::string line = run_on(backend, 2).error_of("g (float[8,2] x) => (float y) { " + node + " }");
      EXPECT_TRUE(all.empty() || line == all) << line << "\n" << all;
      all = line;
    }
    return all;
  };
  const std::string sum = "collective_operation = \"all_reduce\", reduce_op = ";
  const std::pair<std::string, std::string> rows[] = {
      {"y = DistCollective <" + sum + "\"sum\"> ()", "expected one input and one output"},
      {"y, z = DistCollective <" + sum + "\"sum\"> (x)", "expected one input and one output"},
      {"s = SequenceConstruct(x) y = DistCollective <" + sum + "\"sum\"> (s)", "expected a tensor of numbers"},
      {"s = Cast <to = 8> (x) y = DistCollective <" + sum + "\"sum\"> (s)", "expected a tensor of numbers"},
      {"y = DistCollective (x)", "collective_operation"},
      {"y = DistCollective <" + sum + "\"mean\"> (x)", "all_reduce by `mean`; expected one of sum"},
      {"y = DistCollective <collective_operation = \"all\"> (x)", "`all` is no collective"},
      {"y = DistCollective <" + sum + "\"sum\", group_size = 3> (x)", "2 ranks cannot be put into groups of 3"},
      {"y = DistCollective <" + sum + "\"sum\", groups = [0, 7]> (x)", "its groups name rank 7"},
      {"y = DistCollective <" + sum + "\"sum\", groups = [0]> (x)", "rank 1 is in no group of it"},
      {"y = DistCollective <collective_operation = \"broadcast\", root = 5> (x)", "the root 5 is not among its ranks"},
      {"y = Attention <TRT_decomposable = 0, nb_rank = 2> (x)", "expected Q, K and V, and one output"},
      {"y = Attention <TRT_decomposable = 0, nb_rank = 2, is_causal = 1> (x, x, x)", "masks by places"},
      {"y = Attention <TRT_decomposable = 0, nb_rank = 4> (x, x, x)", "is made for 4 ranks, and 2 run"},
      {"i = ReduceSum <keepdims = 0> (x) y = DistCollective <collective_operation = \"all_gather\"> (i)",
       "works along the first dim"},
  };
  for (const auto& [node, expected] : rows) {
    EXPECT_NE(refusal(node).find(expected), std::string::npos) << node << ": " << refusal(node);
  }
}

// The models of two ranks, the second one in a file.
std::string error_of_two(const std::string& first, const std::string& second) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "second.onnx";
  const ir::Model model = parsed(std::string(kHeader) + second);
  onnx::save(model, path, {});
  RankedRun run = run_on("ref", 2);
  run.options.settings.set("rank-models", {path.string()});
  return run.error_of(first);
}

constexpr const char* kSum =
    "g (float[8,2] x) => (float y) { [n] y = DistCollective <collective_operation = \"all_reduce\", reduce_op = "
    "\"sum\", "
    "nb_rank = 2> (x) }";

TEST(Ranks, AnotherModelIsNamedByItsRank) {
  const std::string shape =
      error_of_two(kSum,
                   "g (float[8,2] x) => (float y) <int64[2] s = {4, 4}> { z = Reshape(x, s) [n] y = DistCollective "
                   "<collective_operation = \"all_reduce\", reduce_op = \"sum\", nb_rank = 2> (z) }");
  EXPECT_NE(
      shape.find("rank 1 has come to `n` (all_reduce, sum) with float32[4, 4], rank 0 to `n` (all_reduce, sum) with "
                 "float32[8, 2]"),
      std::string::npos)
      << shape;
  const std::string other = error_of_two(
      kSum,
      "g (float[8,2] x) => (float y) { [o] y = DistCollective <collective_operation = \"all_gather\", nb_rank = 2> "
      "(x) }");
  EXPECT_NE(other.find("rank 1 has come to `o` (all_gather)"), std::string::npos) << other;
  const std::string none = error_of_two(kSum, "g (float[8,2] x) => (float y) { y = Relu(x) }");
  EXPECT_NE(none.find("rank 1 has come to its end without `n` (all_reduce): its model is another"), std::string::npos)
      << none;
  const std::string dies = error_of_two(kSum,
                                        "g (float[8,2] x) => (float y) { z = Unknown(x) [n] y = DistCollective "
                                        "<collective_operation = \"all_reduce\", reduce_op = \"sum\"> (z) }");
  EXPECT_NE(dies.find("rank 1: the Unknown node of `z`"), std::string::npos) << dies;
}

// A backend whose second execution never comes to its end, until it is let go.
class Sleeper final : public exec::Backend {
 public:
  explicit Sleeper(std::shared_ptr<std::atomic<bool>> sleeps) : sleeps_(std::move(sleeps)) {}
  std::string_view name() const override { return "ref"; }
  exec::Probe probe(const exec::LibrarySearch&) const override { return {.usable = true}; }
  std::vector<exec::Refusal> refusals(const ir::Model&, const exec::LibrarySearch&) const override { return {}; }
  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics& findings) const override {
    if (prepared_++ % 2 == 0) return exec::make_backend("ref")->prepare(model, options, findings);
    class Sleeping final : public exec::Execution, public exec::Session {
     public:
      explicit Sleeping(std::shared_ptr<std::atomic<bool>> sleeps) : sleeps_(std::move(sleeps)) {}
      void run(std::span<const exec::Feed>, std::span<const std::string>, exec::TensorSink&) override {
        while (*sleeps_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        sleeps_.reset();
      }
      double seconds() const override { return 0; }
      void bind(std::vector<exec::OutputBuffer>) override {}
      const exec::Signature& signature() const override { return signature_; }
      std::unique_ptr<exec::Execution> make_execution(const exec::ExecutionOptions&) const override {
        return std::make_unique<Sleeping>(sleeps_);
      }

     private:
      std::shared_ptr<std::atomic<bool>> sleeps_;
      exec::Signature signature_;
    };
    return std::make_unique<Sleeping>(sleeps_);
  }

 private:
  std::shared_ptr<std::atomic<bool>> sleeps_;
  mutable int prepared_ = 0;
};

TEST(Ranks, ARankThatHangsIsNamedWithinTheDeadline) {
  const auto sleeps = std::make_shared<std::atomic<bool>>(true);
  const auto begin = std::chrono::steady_clock::now();
  RankedRun run{exec::make_ranked_backend("ranks:2", std::make_unique<Sleeper>(sleeps))};
  run.options.settings.set("rank-timeout", {"0.2"});
  EXPECT_EQ(run.error_of(kSum), "rank 1 did not come to `n` (all_reduce) within 0.2 s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  *sleeps = false;
  run.backend.reset();
  for (int i = 0; i < 10000 && sleeps.use_count() > 1; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(sleeps.use_count(), 1);  // what was left behind is gone
}

TEST(Ranks, WordsAreChecked) {
  for (const char* const words : {"ref:tp:1", "ref:tp:300", "ref:cp:0"})
    EXPECT_THROW(exec::make_backend(words), Error) << words;
  EXPECT_THROW(exec::make_backend("onnxrt:tp:2"), Error);
  EXPECT_EQ(exec::make_backend("engine:tp:2")->side_name({}), "engine-tp2");
}

}  // namespace
}  // namespace assay::backends
