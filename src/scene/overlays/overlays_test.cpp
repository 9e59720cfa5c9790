#include "scene/overlays/overlays.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "onnx/text.h"

namespace assay::scene {
namespace {

constexpr std::string_view kModel =
    "<ir_version: 8, opset_import: [\"\" : 17]> net (float[2] x) => (y) "
    "{ [\"first\"] a = Relu(x) [\"second\"] b = Neg(a) y = Abs(b) }";

struct Made {
  explicit Made(std::string_view text = kModel) : model(parsed(text)), inference(model) {
    inference.run();
    made = make_scene(model, inference);
  }
  static ir::Model parsed(std::string_view text) {
    Diagnostics findings;
    return onnx::parse_text(text, findings);
  }

  ir::Model model;
  ops::Inference inference;
  MadeScene made;
};

results::Overlay read(std::string_view json) {
  const Made made;
  return report_overlay(json, SceneNames(made.model, made.made));
}

float number(const results::Overlay& overlay, std::string_view side, std::string_view field, std::string_view node,
             bool is_of_values = false) {
  const Made made;
  const SceneNames names(made.model, made.made);
  for (const results::OverlayColumn& column : overlay.columns) {
    if (column.side == side && column.field == field && column.is_of_values == is_of_values) {
      return column.numbers.at(is_of_values ? names.value(node) : names.item(node));
    }
  }
  ADD_FAILURE() << "no column " << side << "/" << field;
  return 0;
}

TEST(Overlays, errors_by_layer) {
  const results::Overlay overlay = read(R"({"schema": "assay/debug-accuracy/1", "sides": [{"name": "onnxrt"}],
      "guilty": [{"node": "second", "op": "Neg", "side": "onnxrt", "introduced": 0.5, "excess": 20,
                  "cause": "rounding", "reason": "because", "share_of_output": null}],
      "remedies": [{"text": "mend it", "cures": true}],
      "layers": [{"node": "first", "value": "a", "side": "onnxrt", "introduced": 0.25, "excess": 0.5, "total": "inf",
                  "group": []},
                 {"node": "second", "value": "b", "side": "onnxrt", "introduced": 0.5, "excess": 20, "total": 2,
                  "group": ["first"]},
                 {"node": "not there", "value": "z", "side": "onnxrt", "excess": 1}]})");
  EXPECT_EQ(overlay.what, "accuracy");
  EXPECT_EQ(number(overlay, "onnxrt", "excess", "second"), 20);
  EXPECT_EQ(number(overlay, "onnxrt", "introduced", "first"), 0.25F);
  EXPECT_TRUE(std::isinf(number(overlay, "onnxrt", "total", "a", true)));
  ASSERT_EQ(overlay.notes.size(), 2u);
  EXPECT_EQ(overlay.notes[0].severity, "error");
  EXPECT_NE(overlay.notes[0].text.find("because"), std::string::npos);
  ASSERT_EQ(overlay.groups.size(), 1u);
  EXPECT_EQ(overlay.groups[0].items.size(), 2u);
}

TEST(Overlays, differences_of_outputs) {
  const results::Overlay overlay = read(R"({"schema": "assay/run/1", "verdict": "failed", "pairs": [
      {"runner_a": "onnxrt-runner-N0-11/29/26-04:50:34", "runner_b": "ref", "iterations": [{"outputs": [
        {"name": "b", "passed": false, "max_abs": 3, "max_rel": 1, "count": 4, "failed_count": 1}]}]}],
      "runs": [{"runner": "onnxrt", "failure": "it fell"}]})");
  EXPECT_EQ(number(overlay, "onnxrt against ref", "max_abs", "second"), 3);
  EXPECT_EQ(number(overlay, "onnxrt against ref", "failed", "second"), 0.25F);
  EXPECT_EQ(number(overlay, "onnxrt against ref", "max_abs", "b", true), 3);
  EXPECT_TRUE(std::isnan(number(overlay, "onnxrt against ref", "max_abs", "first")));
  EXPECT_EQ(overlay.notes.size(), 2u);
}

TEST(Overlays, time_by_layer) {
  const results::Overlay overlay = read(R"({"schema": "assay/profile/1", "roof": {"flops_per_second": 1e9},
      "backends": [{"backend": "engine", "layers": [
        {"name": "l0", "op": "Relu", "origins": ["first", "second"], "seconds": 0.002, "share": 0.5},
        {"name": "l1", "op": "Abs", "origins": ["y"], "seconds": 0.001, "share": 0.5}]}]})");
  EXPECT_EQ(number(overlay, "engine", "time", "first"), 1) << "half of the layer's 2 ms";
  EXPECT_EQ(number(overlay, "engine", "time", "y"), 1) << "a node without a name is known by its result";
  ASSERT_EQ(overlay.spans.size(), 2u);
  EXPECT_EQ(overlay.spans[1].start, 2000);
  EXPECT_EQ(overlay.spans[1].length, 1000);
  ASSERT_EQ(overlay.groups.size(), 1u);
}

TEST(Overlays, findings_and_refusals) {
  const results::Overlay lint = read(R"({"schema": "assay/check-lint/1", "lint_entries": [
      {"level": "exception", "code": "schema", "message": "no", "nodes": ["first"]}, {"level": "info"}]})");
  ASSERT_EQ(lint.notes.size(), 2u);
  EXPECT_EQ(lint.notes[0].severity, "error");
  EXPECT_NE(lint.notes[0].item, kNoItem);
  EXPECT_EQ(lint.notes[1].item, kNoItem);
  const results::Overlay refusals = read(R"({"schema": "assay/check-compatibility/1", "backends": [
      {"backend": "openvino", "refused": [{"node": "second", "reason": "why"}]}]})");
  EXPECT_EQ(number(refusals, "openvino", "refused", "second"), 1);
}

TEST(Overlays, ranges) {
  const results::Overlay overlay =
      read(R"({"schema": "assay/debug-range/1", "values": [{"value": "a", "least": 1e-3, "greatest": 10}]})");
  EXPECT_EQ(number(overlay, "", "greatest", "first"), 10);
}

TEST(Overlays, layers_of_a_plan) {
  const Made made;
  results::EngineListing plan;
  results::EngineProfile& profile = plan.profiles.emplace_back();
  profile.layers.push_back({.name = "l0", .op = "chain", .tactic = "chain.tape", .origins = {"first", "second"}});
  profile.unplanned.push_back({"y", "Abs"});
  profile.blocks.push_back({.value = "a", .first = 1, .last = 2, .address = 64, .bytes = 8});
  const results::Overlay overlay = plan_overlay(plan, SceneNames(made.model, made.made));
  ASSERT_EQ(overlay.groups.size(), 1u);
  EXPECT_EQ(overlay.groups[0].items.size(), 2u);
  EXPECT_EQ(overlay.groups[0].state, "chain.tape");
  ASSERT_EQ(overlay.notes.size(), 1u);
  EXPECT_NE(overlay.notes[0].item, kNoItem);
  ASSERT_EQ(overlay.blocks.size(), 1u);
  EXPECT_EQ(overlay.blocks[0].item, SceneNames(made.model, made.made).item("first"));
  EXPECT_EQ(overlay.blocks[0].address, 64);
}

TEST(Overlays, differences_of_models) {
  const Made a;
  const Made b(
      "<ir_version: 8, opset_import: [\"\" : 17]> net (float[2] x) => (y) "
      "{ [\"other\"] a = Relu(x) [\"second\"] b = Neg(a) [\"new\"] c = Exp(b) y = Abs(c) }");
  const auto [mine, others] = difference_overlays(a.model, a.made, b.model, b.made);
  const auto kinds = [](const results::Overlay& overlay) {
    std::vector<std::string> words;
    for (const results::OverlayRow& row : overlay.table)
      words.push_back(row.words[0].second + " " + row.words[1].second);
    std::ranges::sort(words);
    return words;
  };
  EXPECT_EQ(kinds(mine), (std::vector<std::string>{"renamed first"}));
  EXPECT_EQ(kinds(others), (std::vector<std::string>{"added new", "renamed other"}));
  EXPECT_EQ(others.scene, 1u);
}

TEST(Overlays, nodes_between_steps_are_named_at_both) {
  const Made made;
  const SceneNames names(made.model, made.made);
  RewriteSteps steps;
  steps.list = {{.explanation = "one", .removed = {"gone"}, .added = {"between", "first"}, .changed = ""},
                {.explanation = "two", .removed = {"other"}, .added = {"other"}, .changed = "second"},
                {.explanation = "three", .removed = {"between"}, .added = {"b\nc"}, .changed = ""},
                {.explanation = "four", .removed = {"b\nc", "conv"}, .added = {"conv"}, .changed = ""},
                {.explanation = "five", .removed = {"conv"}, .added = {"conv"}, .changed = ""}};
  const results::Overlay overlay = steps_overlay(steps, names, ShownSteps::all);
  using Words = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(overlay.table.at(0).words, (Words{{"name", "one"}, {"unseen", "makes `between`, which step 3 removes"}}));
  EXPECT_EQ(overlay.table.at(1).words, (Words{{"name", "two"}}));
  EXPECT_EQ(overlay.table.at(2).words, (Words{{"name", "three"},
                                              {"unseen",
                                               "makes `b c`, which step 4 removes; removes `between`, "
                                               "which step 1 makes"}}));
  EXPECT_EQ(overlay.table.at(3).words, (Words{{"name", "four"}, {"unseen", "removes `b c`, which step 3 makes"}}));
  EXPECT_EQ(overlay.table.at(4).words, (Words{{"name", "five"}})) << "both models have a node of that name";
  EXPECT_EQ(overlay.table.at(0).items, std::vector<uint32_t>{names.item("first")});
}

TEST(Overlays, foreign_and_damaged_reports) {
  EXPECT_THROW(read("{}"), Error);
  EXPECT_THROW(read(R"({"schema": "assay/bench/1"})"), Error);
  EXPECT_THROW(read("{\"a\": "), Error);
  EXPECT_THROW(read("{\"a\": " + std::string(100, '[') + std::string(100, ']') + "}"), Error);
  for (const char* schema : {"debug-accuracy", "run", "profile", "check-lint", "check-compatibility", "debug-range"}) {
    const std::string start = std::string("{\"schema\": \"assay/") + schema + "/1\"";
    EXPECT_FALSE(read(start + "}").what.empty());
    EXPECT_THROW(read(start + ", \"layers\": 3, \"runs\": 3, \"backends\": 3, \"values\": 3, \"lint_entries\": 3}"),
                 Error);
  }
}

}  // namespace
}  // namespace assay::scene
