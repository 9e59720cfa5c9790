#include "onnx/load.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "schema/schema.h"
#include "support/model_checks.h"

namespace assay::onnx {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;

class Load : public testing::Test {
 protected:
  std::string line(const fs::path& path, ErrorCode code, const LoadOptions& options = {}) {
    const std::optional<Error> error = error_of([&] {
      Diagnostics findings;
      load(path, options, findings);
    });
    if (!error) return "no error";
    EXPECT_EQ(error->code(), code) << error->line();
    EXPECT_EQ(exit_status(error->code()), 2);
    EXPECT_TRUE(is_one_line(*error));
    return error->line();
  }
  std::string finding_codes(const std::string& bytes) {
    Diagnostics findings;
    load(folder_.put("m.onnx", bytes), {}, findings);
    return codes(findings);
  }
  static std::string with(const std::vector<Wire>& nodes, const std::vector<Wire>& opsets, int64_t ir_version = 10) {
    Wire wire = Wire().integer(1, ir_version).message(7, graph(nodes));
    for (const Wire& item : opsets) wire.message(8, item);
    return wire.bytes();
  }

  TemporaryFolder folder_;
  const Wire relu_ = node("Relu", {"X"}, {"Y"});
};

TEST_F(Load, a_sound_model_has_no_findings) { EXPECT_EQ(finding_codes(model(graph({relu_})).bytes()), ""); }

TEST_F(Load, files_that_cannot_be_read) {
  EXPECT_NE(line(folder_.path() / "none.onnx", ErrorCode::io).find("cannot open"), std::string::npos);
  EXPECT_NE(line(folder_.path(), ErrorCode::io).find("is a folder"), std::string::npos);
  EXPECT_NE(line(folder_.put("empty.onnx", ""), ErrorCode::parse).find("is empty"), std::string::npos);
  EXPECT_EQ(line(folder_.put("a\nb.onnx", "\xff"), ErrorCode::parse).find("loading `"), 0u);
}

TEST_F(Load, other_formats_are_refused_by_name) {
  for (const std::string name : {"m.textproto", "m.JSON", "m.ort", "m.prototxt", "m.pbtxt", "m.txtpb", "m.onnxjson"}) {
    const fs::path path = folder_.put(name, model(graph({relu_})).bytes());
    EXPECT_NE(line(path, ErrorCode::parse).find("expected a binary ONNX model"), std::string::npos) << name;
    LoadOptions told;
    told.is_onnx = true;
    EXPECT_EQ(line(path, ErrorCode::parse, told), "no error") << name;
  }
}

TEST_F(Load, other_formats_are_recognised_by_their_bytes) {
  const auto says = [&](std::string_view bytes) { return line(folder_.put("m.onnx", bytes), ErrorCode::parse); };
  const auto expect = [&](std::string_view bytes, std::string_view words) {
    EXPECT_NE(says(bytes).find(words), std::string::npos) << says(bytes);
  };
  using std::string_view_literals::operator""sv;
  expect("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"sv, "run `git lfs pull`");
  expect("\n<!DOCTYPE html>\n<html><body>Not found</body></html>"sv, "an HTML page");
  expect("PK\x03\x04\x00\x00\x08\x08\x00\x00net/data.pkl"sv, "torch.onnx.export");
  expect("\x80\x02\x8a\x0al\xfc\x9c"sv, "torch.onnx.export");
  expect("\x1c\x00\x00\x00TFL3\x14\x00"sv, "TensorFlow Lite");
  expect("\x89HDF\r\n\x1a\n\x00\x00"sv, "HDF5");
  expect("\x3a\x00\x00\x00\x00\x00\x00\x00{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}      zzzz"sv,
         "safetensors");
  expect("<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\">"sv, "OpenVINO");
  expect("ftrt\x00\x00\x00\x00"sv, "a plan of TensorRT");
  expect("\xff\xfe garbage"sv, "not a field of an ONNX file");
}

TEST_F(Load, files_that_end_early_say_how_long_they_should_be) {
  const std::string whole = model(graph({relu_})).bytes();
  const std::string cut = whole.substr(0, whole.size() / 2);
  const std::string said = line(folder_.put("m.onnx", cut), ErrorCode::parse);
  EXPECT_NE(said.find(fmt::format("the file ends after {} of ", cut.size())), std::string::npos) << said;
}

TEST_F(Load, standard_input) {
  const fs::path path = folder_.put("m.onnx", model(graph({relu_})).bytes());
  const int saved_input = dup(STDIN_FILENO);
  const int file = open(path.c_str(), O_RDONLY);
  dup2(file, STDIN_FILENO);
  Diagnostics findings;
  const ir::Model loaded = load("-", {}, findings);
  dup2(saved_input, STDIN_FILENO);
  close(file);
  close(saved_input);
  EXPECT_EQ(loaded[loaded.main_graph()].node_count, 1u);
}

TEST_F(Load, graph_faults_are_findings) {
  EXPECT_EQ(finding_codes(model(graph({relu_, node("Relu", {"X"}, {"Y"})})).bytes()), "duplicate_name ");
  EXPECT_EQ(finding_codes(model(graph({node("Relu", {"Z"}, {"Y"})})).bytes()), "undefined_name ");
  EXPECT_EQ(finding_codes(model(graph({node("Relu", {"A"}, {"Y"}), node("Relu", {"X"}, {"A"})})).bytes()),
            "not_sorted ");
  EXPECT_EQ(finding_codes(model(graph({node("Relu", {"B"}, {"Y"}), node("Relu", {"Y"}, {"B"})})).bytes()), "cycle ");
  const Wire shadowing = Wire().message(1, node("Relu", {"X"}, {"X"})).message(12, value_info("X"));
  Wire holder = node("If", {"X"}, {"Y"});
  holder.message(5, body_attribute("then_branch", shadowing));
  EXPECT_EQ(finding_codes(model(graph({holder})).bytes()).find("shadowed_name"), 0u);
}

TEST_F(Load, operators_and_domains) {
  EXPECT_EQ(finding_codes(with({node("Rellu", {"X"}, {"Y"})}, {opset(17)})), "unknown_operator ");
  EXPECT_EQ(finding_codes(with({node("Relu", {"X"}, {"Y"}, "", "ai.onnx")}, {opset(17)})), "");
  EXPECT_EQ(finding_codes(with({node("Op", {"X"}, {"Y"}, "", "mine")}, {opset(17), opset(1, "mine")})),
            "unknown_domain ");
  EXPECT_EQ(
      finding_codes(with({node("Gelu", {"X"}, {"Y"}, "", "com.microsoft")}, {opset(17), opset(1, "com.microsoft")})),
      "");
  EXPECT_EQ(finding_codes(with({node("Op", {"X"}, {"Y"}, "", "mine")}, {opset(17)})),
            "unknown_domain no_opset_import ");
  EXPECT_EQ(finding_codes(with({relu_}, {opset(1, "mine")})), "no_opset_import ");
  EXPECT_EQ(finding_codes(with({relu_}, {}, 2)), "");
}

TEST_F(Load, operators_of_onnx_runtime) {
  const auto codes_of = [&](std::string_view op, std::string_view domain) {
    return finding_codes(with({node(op, {"X"}, {"Y"}, "", domain)}, {opset(17), opset(1, "com.microsoft")}));
  };
  EXPECT_EQ(codes_of("SimplifiedLayerNormalization", ""), "");
  EXPECT_EQ(codes_of("QuickGelu", "com.microsoft"), "");
  EXPECT_EQ(codes_of("OneThatIsNotListed", "com.microsoft"), "");
}

TEST_F(Load, newer_versions) {
  const int64_t newest = schema::newest_version("").value();
  EXPECT_EQ(finding_codes(with({relu_}, {opset(newest)})), "");
  EXPECT_EQ(finding_codes(with({relu_}, {opset(newest + 1)})), "newer_opset ");
  EXPECT_EQ(finding_codes(with({relu_}, {opset(17)}, schema::newest_ir_version() + 1)), "newer_ir_version ");
}

TEST_F(Load, local_functions_are_known_operators) {
  const Wire function = Wire()
                            .text(1, "Mine")
                            .text(4, "a")
                            .text(5, "b")
                            .message(7, node("Relu", {"a"}, {"b"}))
                            .message(9, opset(17))
                            .text(10, "d");
  Wire wire = Wire()
                  .integer(1, 10)
                  .message(7, graph({node("Mine", {"X"}, {"Y"}, "", "d")}))
                  .message(8, opset(17))
                  .message(8, opset(1, "d"));
  EXPECT_EQ(finding_codes(wire.message(25, function).bytes()), "");
}

TEST_F(Load, each_kind_of_operator_is_reported_once_with_its_count) {
  std::vector<Wire> nodes;
  for (int i = 0; i < 50; ++i) nodes.push_back(node("Nope", {"X"}, {"v" + std::to_string(i)}));
  Diagnostics findings;
  load(folder_.put("m.onnx", model(graph(nodes)).bytes()), {}, findings);
  ASSERT_GE(findings.all().size(), 1u);
  EXPECT_NE(findings.all().back().message.find("50 node(s)"), std::string::npos);
}

}  // namespace
}  // namespace assay::onnx
