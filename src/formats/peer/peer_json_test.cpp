#include "formats/peer/peer_json.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "formats/numpy/npy.h"
#include "formats/numpy/npz.h"
#include "support/data_files.h"

namespace assay::formats {
namespace {

using namespace testing_support;
using tensor::DType;
using tensor::NamedData;
using tensor::Tensor;

const Tensor kBytes = tensor_of<uint8_t>(DType::uint8, {2, 1}, {1, 2});

std::string npy_of(const Tensor& tensor) {
  const NpyImage image(tensor);
  return image.header() + std::string(reinterpret_cast<const char*>(image.elements().data()), image.elements().size());
}
std::string base64_of(std::string_view bytes) { return base64_encode(std::as_bytes(std::span(bytes))); }
std::string array_of(const Tensor& tensor, std::string_view more = "") {
  return fmt::format(R"({{"array": "{}", {}"polygraphy_class": "ndarray"}})", base64_of(npy_of(tensor)), more);
}

SavedData read(std::string_view json) { return read_peer_json(file_of(json)); }
SavedInputs inputs_of(std::string_view json) { return std::get<SavedInputs>(read(json)); }
Tensor only_array(std::string_view object) {
  return inputs_of(fmt::format(R"([{{"x": {}}}])", object)).at(0).at(0).value.tensor();
}

TEST(PeerJson, inputs_that_are_written_come_back) {
  const DataFolder folder;
  const SavedInputs inputs = {{{"a \"\n\xc3\xa9", kBytes}, {"s", strings_of({}, {"z"})}},
                              {},
                              {{"b", tensor_of<uint16_t>(DType::bfloat16, {2}, {1, 2})},
                               {"i", tensor_of<uint8_t>(DType::int4, {3, 1}, {0x21, 3})}}};
  write_peer_inputs(folder / "i.json", inputs);
  EXPECT_TRUE(is_same(std::get<SavedInputs>(load_data(folder / "i.json")), inputs));
}

TEST(PeerJson, layout_of_inputs) {
  const DataFolder folder;
  write_peer_inputs(folder / "i.json", {{{"\x7f\xc3\xa9", kBytes}}, {}});
  EXPECT_EQ(folder.read("i.json"),
            fmt::format("[\n    {{\n        \"\\u007f\\u00e9\": {{\n            \"array\": \"{}\",\n"
                        "            \"polygraphy_class\": \"ndarray\"\n        }}\n    }},\n"
                        "    {{}}\n]",
                        base64_of(npy_of(kBytes))));
  write_peer_inputs(folder / "i.json", {});
  EXPECT_EQ(folder.read("i.json"), "[]");
}

TEST(PeerJson, layout_of_results) {
  const DataFolder folder;
  write_peer_results(folder / "o.json",
                     {{"r", {{{}, 1e-07, "r"}, {{}, INFINITY, "r"}, {{}, std::nullopt, "q"}}}, {"e", {}}});
  const std::string text = folder.read("o.json");
  EXPECT_TRUE(
      text.starts_with("{\n    \"lst\": [\n        [\n            \"r\",\n            [\n                {\n"
                       "                    \"outputs\": {},\n                    \"runtime\": 1e-07,\n"
                       "                    \"runner_name\": \"r\",\n"
                       "                    \"polygraphy_class\": \"IterationResult\"\n                },\n"));
  EXPECT_NE(text.find("\"runtime\": Infinity,"), std::string::npos);
  EXPECT_NE(text.find("\"runtime\": null,"), std::string::npos);
  EXPECT_TRUE(
      text.ends_with("            \"e\",\n            []\n        ]\n    ],\n"
                     "    \"polygraphy_class\": \"RunResults\"\n}"));
}

TEST(PeerJson, results_that_are_written_come_back) {
  const DataFolder folder;
  write_peer_results(folder / "o.json", {{"r", {{{{"y", kBytes}}, NAN, "other"}}}, {"r", {}}});
  const SavedRuns runs = load_results(folder / "o.json");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].runner, "r");
  EXPECT_EQ(runs[0].iterations[0].runner, "other");
  EXPECT_TRUE(std::isnan(*runs[0].iterations[0].runtime_seconds));
  EXPECT_TRUE(is_same(runs[0].iterations[0].outputs, {{"y", kBytes}}));
}

TEST(PeerJson, large_arrays_in_pieces) {
  const DataFolder folder;
  std::vector<uint8_t> elements(10'000'001);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<uint8_t>(i * 7 + i / 251);
  const SavedInputs inputs = {{{"x", tensor_of<uint8_t>(DType::uint8, {10'000'001}, elements)}}};
  write_peer_inputs(folder / "i.json", inputs);
  EXPECT_TRUE(is_same(std::get<SavedInputs>(load_data(folder / "i.json")), inputs));
}

TEST(PeerJson, one_object_is_one_iteration) {
  EXPECT_TRUE(is_same(inputs_of(fmt::format(R"({{"x": {}}})", array_of(kBytes))), {{{"x", kBytes}}}));
  EXPECT_EQ(inputs_of("{}").size(), 1u);
}

TEST(PeerJson, every_form_of_an_array) {
  const std::string base64 = base64_of(npy_of(kBytes));
  EXPECT_TRUE(is_same(only_array(fmt::format(R"({{"polygraphy_class": "ndarray", "array": "{}"}})", base64)), kBytes));
  for (const char* name : {"LazyArray", "LazyNumpyArray"}) {
    EXPECT_TRUE(is_same(
        only_array(fmt::format(R"({{"values": {}, "polygraphy_class": "{}"}})", array_of(kBytes), name)), kBytes));
  }
  EXPECT_TRUE(
      is_same(only_array(fmt::format(R"({{"array": "{}", "__polygraphy_encoded_ndarray": "x"}})", base64)), kBytes));
  EXPECT_TRUE(
      is_same(only_array(fmt::format(R"({{"array": {}, "shape": [1, 2], "polygraphy_class": "FormattedArray"}})",
                                     array_of(kBytes))),
              tensor_of<uint8_t>(DType::uint8, {1, 2}, {1, 2})));
}

TEST(PeerJson, base64_with_escapes_and_line_breaks) {
  const Tensor slashes = tensor_of<uint8_t>(DType::uint8, {4}, {255, 255, 255, 255});
  std::string escaped;
  for (const char c : base64_of(npy_of(slashes))) escaped += c == '/' ? "\\/" : std::string(1, c);
  EXPECT_TRUE(
      is_same(only_array(fmt::format(R"({{"array": "{}", "polygraphy_class": "ndarray"}})", escaped)), slashes));
  std::string broken = base64_of(npy_of(kBytes));
  broken.insert(76, "\\n");
  EXPECT_TRUE(is_same(only_array(fmt::format(R"({{"array": "{}", "polygraphy_class": "ndarray"}})", broken)), kBytes));
}

TEST(PeerJson, latin_1_and_npz_payloads) {
  std::string escaped;
  for (const char c : npy_of(kBytes)) escaped += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
  EXPECT_TRUE(is_same(only_array(fmt::format(R"({{"array": "{}", "polygraphy_class": "ndarray"}})", escaped)), kBytes));
  const DataFolder folder;
  write_npz(folder / "a.npz", {{"arr_0", kBytes}});
  EXPECT_TRUE(is_same(
      only_array(fmt::format(R"({{"array": "{}", "polygraphy_class": "ndarray"}})", base64_of(folder.read("a.npz")))),
      kBytes));
}

TEST(PeerJson, what_is_refused_is_named) {
  EXPECT_NE(error_of(R"([{"x": {"tensor": "UEsDBA==", "polygraphy_class": "Tensor"}}])").find("`Tensor`"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"lst": [], "aggregation": "average", "polygraphy_class": "AccuracyResults"})")
                .find("AccuracyResults"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"lst": [{"lst": []}], "polygraphy_class": "AccuracyResults"})").find("AccuracyResults"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"a": 1, "polygraphy_class": "TacticReplayData"})").find("`TacticReplayData`"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"a": [1, 2]})").find("expected arrays by name"), std::string::npos);
  EXPECT_NE(error_of(R"([{"x": {"shape": [1], "dtype": 1, "polygraphy_class": "TensorInfo"}}])").find("`TensorInfo`"),
            std::string::npos);
  EXPECT_NE(error_of(R"([{"x": {"polygraphy_class": "ndarray"}}])").find("without elements"), std::string::npos);
  EXPECT_NE(error_of(R"([{"x": 3}])"), "");
  EXPECT_NE(error_of(R"([3])"), "");
}

TEST(PeerJson, names_and_keys_that_stand_twice) {
  const std::string array = array_of(kBytes);
  EXPECT_NE(error_of(fmt::format(R"([{{"x": {}, "x": {}}}])", array, array)).find("occurs twice"), std::string::npos);
  EXPECT_NE(error_of(fmt::format(R"({{"x": {}, "x": {}}})", array, array)).find("occurs twice"), std::string::npos);
  const std::string twice = array_of(kBytes, fmt::format("\"array\": \"{}\", ", base64_of(npy_of(kBytes))));
  EXPECT_NE(error_of(fmt::format(R"([{{"x": {}}}])", twice)).find("occurs twice"), std::string::npos);
}

TEST(PeerJson, bits_that_do_not_fit_their_type) {
  EXPECT_NE(error_of(fmt::format(R"([{{"x": {}}}])", array_of(kBytes, R"("assay_dtype": "bfloat16", )"))), "");
  EXPECT_NE(error_of(fmt::format(R"([{{"x": {}}}])", array_of(kBytes, R"("assay_dtype": "int4", )"))), "");
  EXPECT_NE(
      error_of(fmt::format(R"([{{"x": {}}}])", array_of(kBytes, R"("assay_dtype": "int4", "assay_shape": [9], )"))),
      "");
  EXPECT_NE(error_of(fmt::format(R"([{{"x": {}}}])", array_of(kBytes, R"("assay_dtype": "float32", )"))), "");
}

TEST(PeerJson, bits_that_are_left_over) {
  const std::string array = array_of(kBytes, R"("assay_dtype": "int4", "assay_shape": [2], )");
  EXPECT_NE(error_of(fmt::format(R"([{{"x": {}}}])", array)).find("do not fit"), std::string::npos);
}

TEST(PeerJson, wrong_base64_shows_when_the_elements_are_used) {
  std::string text =
      fmt::format(R"([{{"x": {}}}])", array_of(tensor_of<uint8_t>(DType::uint8, {9}, std::vector<uint8_t>(9))));
  text[text.find("AAAA") + 2] = '*';
  EXPECT_NE(error_of(text).find("base64 text holds the character 0x2a"), std::string::npos);
}

TEST(PeerJson, what_cannot_be_saved) {
  const DataFolder folder;
  EXPECT_THROW(write_peer_inputs(folder / "i.json", {{{"\xff", kBytes}}}), Error);
  EXPECT_THROW(write_peer_inputs(folder / "i.json", {{{"s", tensor::Datum::sequence({})}}}), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "i.json"));
}

}  // namespace
}  // namespace assay::formats
