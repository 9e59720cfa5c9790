#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "engine/plan/plan_models.h"
#include "engine/plan/saved_plan.h"
#include "onnx/text.h"

namespace assay::engine {
namespace {

constexpr std::string_view kText = R"(<ir_version: 8, opset_import: ["" : 17]>
net (float[n,2] x) => (float[n,2] y) <float[2,2] w = {1, 2, 3, 4}, float[2,2] v = {1, 2, 3, 4}> {
  a = MatMul(x, w)
  y = Add(a, v)
})";

ir::Model parse(std::string_view text) {
  Diagnostics findings;
  return onnx::parse_text(text, findings);
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const Bytes bytes = file->bytes();
  return {bytes.begin(), bytes.end()};
}

Fingerprint processor(const std::string& library, unsigned threads, const std::string& instructions = "avx2") {
  return {.device = "cpu",
          .parts = {{"processor", "X 01"}, {"instructions", instructions}, {"oneDNN", library}},
          .threads = threads};
}

Manifest manifest_of(const ir::Model& model) {
  Manifest manifest;
  manifest.devices = {processor("1", 2)};
  manifest.source = "/models/net.onnx";
  manifest.source_checksum = 7;
  manifest.excluded = {"tape"};
  manifest.excluded_of = {{"y", {"a", "b:c"}}};
  manifest.signature = exec::signature_of(model);
  manifest.profiles = {{{"x", false, {1, 2}, {3, 2}, {9, 2}}}};
  return manifest;
}

class Plan : public testing::Test {
 protected:
  void SetUp() override {
    const ir::Model model = parse(kText);
    Manifest manifest = manifest_of(model);
    PlanSections sections(path_);
    const ir::ValueId w = model[model.main_graph()].initializers[0];
    const std::vector<std::byte> turned(5, std::byte{9});
    sections.add_packed(&manifest, "of nothing", std::vector<std::byte>(3, std::byte{8}));
    sections.add_packed(model[model[w].constant].tensor.bytes().data(), "turned", turned);
    const auto code = std::make_shared<const std::vector<std::byte>>(70, std::byte{7});
    sections.add_code("far", {"kernels", {code, code->data()}, code->size()}, "a seal");
    manifest.source_weights = sections.add_model(model, true);
    manifest.planned.push_back({.shapes = {{"x", {3, 2}}},
                                .weights = sections.add_model(model, true),
                                .values = {{"a", "", "the layer"}, {"y", "y", ""}},
                                .layers = {{.name = "y",
                                            .op = "Add",
                                            .tactic = "product.onednn:x",
                                            .origins = {"n"},
                                            .inputs = {},
                                            .outputs = {{"y", tensor::DType::float32, {3, 2}, "linear"}}}},
                                .memory_bytes = 64});
    sections.finish(manifest);
    bytes_ = read_file(path_);
  }

  SavedPlan open(Bytes bytes) const { return SavedPlan(MappedFile::from_bytes(bytes, "a plan")); }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "x.engine";
  std::vector<std::byte> bytes_;
};

TEST_F(Plan, ComesBack) {
  const SavedPlan plan = open_plan(path_);
  const Manifest& manifest = plan.manifest();
  EXPECT_EQ(manifest.devices, std::vector<Fingerprint>{processor("1", 2)});
  EXPECT_EQ(manifest.source, "/models/net.onnx");
  EXPECT_EQ(manifest.source_checksum, 7);
  EXPECT_EQ(manifest.excluded_of.at("y"), (std::vector<std::string>{"a", "b:c"}));
  ASSERT_EQ(manifest.signature.inputs.size(), 1);
  EXPECT_EQ(manifest.signature.inputs[0].type->dims[0].text, "n");
  EXPECT_EQ(manifest.signature.inputs[0].type->dims[1].size, 2);
  EXPECT_EQ(manifest.profiles.at(0).at(0).most, (tensor::Shape{9, 2}));
  EXPECT_EQ(plan.find({{"x", {3, 2}}}), 0);
  EXPECT_EQ(plan.find({{"x", {4, 2}}}), std::nullopt);
  EXPECT_EQ(tactics_of(manifest.planned[0].layers).at("y"), "product.onednn:x");
  EXPECT_EQ(manifest.planned[0].values[0].layer, "the layer");
  EXPECT_EQ(onnx::to_text(plan.source()), onnx::to_text(parse(kText)));
}

// The two tensors have the same elements: they are there once, aligned, and are not copied.
TEST_F(Plan, WeightsAreSharedAndStayInTheFile) {
  const SavedPlan plan = open_plan(path_);
  EXPECT_EQ(plan.file().count(SectionKind::weights), 1);
  const Bytes section = plan.file().section(SectionKind::weights, 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(section.data()) % 64, 0);
  for (const ir::ValueId value : plan.source()[plan.source().main_graph()].initializers) {
    EXPECT_EQ(plan.source()[plan.source()[value].constant].tensor.bytes().data(), section.data());
  }
}

TEST_F(Plan, PackedWeightsAreFoundWithoutPacking) {
  const SavedPlan plan = open_plan(path_);
  KeptWeights packed;
  plan.preset(packed);
  const ir::Model& model = plan.source();
  const tensor::Tensor& w = model[model[model[model.main_graph()].initializers[0]].constant].tensor;
  const auto never = [](std::byte*) { FAIL(); };
  const Buffer form = packed.get(w, "turned", 5, never);
  EXPECT_EQ(host_bytes(form.first), plan.file().section(SectionKind::packed, 1).data());
  EXPECT_EQ(plan.manifest().packed.size(), 1);
  EXPECT_TRUE(packed.has(w, "turned"));
  EXPECT_FALSE(packed.has(w, "straight"));
  int filled = 0;
  packed.get(w, "turned", 6, [&](std::byte*) { ++filled; });  // another size: not what was saved
  EXPECT_EQ(filled, 1);
}

TEST_F(Plan, EveryFlippedByteIsRefused) {
  for (size_t i = 0; i < bytes_.size(); ++i) {
    bytes_[i] ^= std::byte{0x10};
    EXPECT_THROW(open(bytes_), Error) << i;
    bytes_[i] ^= std::byte{0x10};
  }
  EXPECT_NO_THROW(open(bytes_));
}

TEST_F(Plan, EveryLengthIsRefused) {
  for (size_t size = 0; size < bytes_.size(); ++size) EXPECT_THROW(open(Bytes(bytes_).first(size)), Error) << size;
  bytes_.push_back({});
  EXPECT_THROW(open(bytes_), Error);
}

TEST(PlanFile, SectionsOfSeveralPieces) {
  constexpr size_t kMegabyte = size_t{1} << 20;
  constexpr size_t kTableBytes = 3 * sizeof(SectionEntry) + sizeof(PlanTrailer);
  const TemporaryFolder folder;
  for (const size_t size : {size_t{0}, size_t{1}, 4 * kMegabyte, 9 * kMegabyte + 3}) {
    std::vector<std::byte> weights(size);
    for (size_t i = 0; i < size; ++i) weights[i] = static_cast<std::byte>(i * i >> 8);
    const tensor::StoragePtr storage = tensor::make_owned(weights);
    EXPECT_EQ(section_checksum(weights), checksum_of(*storage));
    const std::filesystem::path path = folder.path() / std::to_string(size);
    PlanWriter writer(path);
    EXPECT_EQ(writer.add(SectionKind::packed, weights), 0);
    EXPECT_EQ(writer.add(SectionKind::weights, storage), 0);
    EXPECT_EQ(writer.add(SectionKind::packed, storage, section_checksum(weights)), 1);
    EXPECT_FALSE(std::filesystem::exists(path));
    writer.finish();
    std::vector<std::byte> bytes = read_file(path);
    const auto open = [&] { return PlanFile(MappedFile::from_bytes(bytes, "a plan")); };
    for (const uint64_t number : {0, 1}) {
      EXPECT_TRUE(std::ranges::equal(open().section(SectionKind::packed, number), weights));
    }
    EXPECT_TRUE(std::ranges::equal(open().section(SectionKind::weights, 0), weights));
    EXPECT_THROW(open().section(SectionKind::packed, 2), Error);
    for (size_t at = 0; at < size; at += kMegabyte) {
      for (const size_t place : {sizeof(PlanHeader) + at, bytes.size() - kTableBytes - 1 - at}) {
        bytes[place] ^= std::byte{0x80};
        EXPECT_THROW(open(), Error) << size << " " << place;
        bytes[place] ^= std::byte{0x80};
      }
    }
  }
}

// The rest is checked by who opens the plan.
TEST_F(Plan, OfTheManifestAloneNothingElseIsChecked) {
  EXPECT_EQ(read_manifest_of(path_).profiles.at(0).at(0).most, (tensor::Shape{9, 2}));
  const auto mapped = [&] { return MappedFile::from_bytes(bytes_, "a plan"); };
  bytes_[sizeof(PlanHeader)] ^= std::byte{1};  // of packed weights
  EXPECT_THROW(PlanFile{mapped()}, Error);
  const std::shared_ptr<const MappedFile> file = mapped();
  const Bytes manifest = PlanFile(file, SectionKind::manifest).section(SectionKind::manifest, 0);
  bytes_[static_cast<size_t>(manifest.data() - file->bytes().data())] ^= std::byte{1};
  EXPECT_THROW(PlanFile(mapped(), SectionKind::manifest), Error);
}

TEST(Manifest, CutsAndNumbersThatAreTooLargeAreRefused) {
  std::vector<std::byte> bytes = write_manifest(manifest_of(parse(kText)));
  EXPECT_NO_THROW(read_manifest(bytes));
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_THROW(read_manifest(Bytes(bytes).first(size)), Error);
  size_t refused = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::byte> changed = bytes;
    changed[i] = std::byte{0xff};
    try {
      read_manifest(changed);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse);
      ++refused;
    }
  }
  EXPECT_GT(refused, bytes.size() / 2);
}

TEST(Machine, DifferencesAreNamedButForThreads) {
  const std::vector<Fingerprint> here = {processor("3.1", 2)};
  EXPECT_EQ(machine_difference(here, here), "");
  EXPECT_EQ(machine_difference({processor("3.1", 4)}, here), "");
  EXPECT_EQ(machine_difference({processor("3.2", 2)}, here), "oneDNN 3.2 there, oneDNN 3.1 here");
  EXPECT_EQ(machine_difference({processor("none", 2, "base")}, here),
            "instructions base there, instructions avx2 here; oneDNN none there, oneDNN 3.1 here");
  const Fingerprint far{.device = "far", .parts = {{"card", "x"}}};
  EXPECT_EQ(machine_difference({far, here[0]}, here), "device far there, not here");
  EXPECT_EQ(machine_difference(here, {far, here[0]}), "device far here, not there");
  EXPECT_EQ(text_of(far), "far: card x");
  EXPECT_EQ(text_of(here[0]), "cpu: processor X 01, instructions avx2, oneDNN 3.1, 2 threads");
}

TEST_F(Plan, CodeOfADeviceLiesInTheFile) {
  const SavedPlan plan = open_plan(path_);
  ASSERT_EQ(plan.manifest().code.size(), 1U);
  const CompiledCode& told = plan.manifest().code[0];
  EXPECT_EQ(told.device + " " + told.seal, "far a seal");
  const KernelCode code = plan.code(told);
  EXPECT_EQ(code.name, "kernels");
  EXPECT_EQ(std::vector<std::byte>(code.view().begin(), code.view().end()), std::vector<std::byte>(70, std::byte{7}));
}

TEST(Profile, BoundsThatAreLeftOut) {
  const exec::Signature signature = exec::signature_of(parse(kText));
  const auto shape = [](tensor::Shape dims) { return std::vector<exec::InputShape>{{"x", std::move(dims)}}; };
  const auto range = [&](const ProfileShapes& shapes) { return make_profile(signature, shapes).at(0); };
  EXPECT_EQ(range({.best = shape({4, 2})}).least, (tensor::Shape{1, 2}));
  EXPECT_EQ(range({.best = shape({4, 2})}).most, (tensor::Shape{4, 2}));
  EXPECT_EQ(range({.least = shape({4, -1})}).best, (tensor::Shape{4, 2}));
  EXPECT_EQ(range({.most = shape({4, 2})}).best, (tensor::Shape{4, 2}));
  EXPECT_TRUE(make_profile(signature, {}).empty());
  const Profile profile = {range({.least = shape({2, 2}), .most = shape({5, 2})})};
  const Profile wide = {range({.least = shape({7, 2}), .most = shape({9, 2})})};
  const std::vector<Profile> both = {profile, wide};
  const auto check = [&](std::vector<Profile> profiles, std::optional<size_t> chosen, tensor::Shape dims) {
    const exec::Feed feed = {
        "x", tensor::Tensor(tensor::DType::float32, dims,
                            tensor::make_fill(std::vector<std::byte>(4), *tensor::element_count(dims)))};
    check_feeds(profiles, chosen, {&feed, 1});
  };
  EXPECT_NO_THROW(check({profile}, std::nullopt, {2, 2}));
  EXPECT_NO_THROW(check({profile}, std::nullopt, {5, 2}));
  EXPECT_THROW(check({profile}, std::nullopt, {1, 2}), Error);
  EXPECT_THROW(check({profile}, std::nullopt, {6, 2}), Error);
  EXPECT_THROW(check({profile}, std::nullopt, {6}), Error);
  EXPECT_NO_THROW(check(both, std::nullopt, {8, 2}));
  EXPECT_THROW(check(both, std::nullopt, {6, 2}), Error);
  EXPECT_NO_THROW(check(both, 1, {8, 2}));
  EXPECT_THROW(check(both, 0, {8, 2}), Error);
}

TEST(Profile, ElementsOfInputsThatDecideShapes) {
  const exec::Signature signature = exec::signature_of(parse(R"(<ir_version: 8, opset_import: ["" : 17]>
net (float[6] x, int64[2] s) => (float[a,b] y) { y = Reshape(x, s) })"));
  const Profile profile = make_profile(signature, {.least = {{"s", {1, 2}}}, .best = {}, .most = {{"s", {3, 6}}}});
  const auto check = [&](std::vector<int64_t> elements) {
    const Bytes bytes = std::as_bytes(std::span(elements));
    const exec::Feed feed = {
        "s", tensor::Tensor(tensor::DType::int64, {2}, tensor::make_owned({bytes.begin(), bytes.end()}))};
    check_feeds({&profile, 1}, std::nullopt, {&feed, 1});
  };
  EXPECT_NO_THROW(check({3, 2}));
  EXPECT_THROW(check({6, 1}), Error);
  EXPECT_THROW(make_profile(signature, {.best = {{"s", {1, 2, 3}}}}), Error);
}

}  // namespace
}  // namespace assay::engine
