#include "formats/pipeline_file.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/yaml.h"

namespace assay::formats {
namespace {

[[noreturn]] void fail_at(const YamlNode& node, const std::string& what) {
  fail(ErrorCode::parse, "line {}: {}", node.line, what);
}

std::string hint(const std::string& word, const std::vector<std::string>& known) {
  const std::optional<std::string> near = did_you_mean(word, known);
  return near ? fmt::format("; did you mean `{}`?", printable(*near)) : "";
}

void check_keys(const YamlNode& map, const std::vector<std::string>& known) {
  if (map.kind != YamlNode::Kind::map) map.fail_here(fmt::format("keys {}", join(known, ", ")));
  for (const YamlEntry& entry : map.entries) {
    if (std::ranges::find(known, entry.key) != known.end()) continue;
    fail_at(entry.value, fmt::format("unknown key `{}`{}", printable(entry.key), hint(entry.key, known)));
  }
}

std::string text_of(const YamlNode& map, std::string_view key) {
  const YamlNode* node = map.find(key);
  if (node == nullptr || node->kind != YamlNode::Kind::scalar || node->text.empty())
    fail_at(map, fmt::format("a stage has a `{}`", key));
  return node->text;
}

// `encoder.last_hidden_state`: names of stages have no dots, those of values may.
StageFeed parse_feed(const YamlEntry& entry, const std::vector<std::string>& before) {
  const std::string& source = entry.value.text;
  const size_t dot = source.find('.');
  if (entry.value.kind != YamlNode::Kind::scalar || dot == 0 || dot == std::string::npos || dot + 1 == source.size())
    entry.value.fail_here("STAGE.OUTPUT");
  const std::string stage = source.substr(0, dot);
  if (std::ranges::find(before, stage) == before.end()) {
    fail_at(entry.value,
            fmt::format("no stage before this one is called `{}`{}", printable(stage), hint(stage, before)));
  }
  return {entry.key, stage, source.substr(dot + 1)};
}

PipelineStage parse_stage(const YamlNode& node, const std::vector<std::string>& before) {
  check_keys(node, {"name", "model", "inputs"});
  PipelineStage stage{.name = text_of(node, "name"), .model = text_of(node, "model"), .feeds = {}, .line = node.line};
  if (stage.name.find('.') != std::string::npos)
    fail_at(node, fmt::format("the name of a stage has no dots: `{}`", printable(stage.name)));
  if (std::ranges::find(before, stage.name) != before.end())
    fail_at(node, fmt::format("there are two stages `{}`", printable(stage.name)));
  const YamlNode* inputs = node.find("inputs");
  if (inputs == nullptr || inputs->kind == YamlNode::Kind::null) return stage;
  if (inputs->kind != YamlNode::Kind::map) inputs->fail_here("INPUT: STAGE.OUTPUT");
  for (const YamlEntry& entry : inputs->entries) stage.feeds.push_back(parse_feed(entry, before));
  return stage;
}

}  // namespace

std::vector<PipelineStage> parse_pipeline(std::string_view text) {
  const std::vector<YamlNode> documents = parse_yaml(text);
  if (documents.size() != 1) fail(ErrorCode::parse, "a pipeline is one YAML document with a list `stages`");
  check_keys(documents[0], {"stages"});
  const YamlNode* list = documents[0].find("stages");
  if (list == nullptr || list->kind != YamlNode::Kind::list || list->items.empty())
    fail(ErrorCode::parse, "a pipeline has a list `stages`");
  std::vector<PipelineStage> stages;
  std::vector<std::string> names;
  for (const YamlNode& node : list->items) {
    stages.push_back(parse_stage(node, names));
    names.push_back(stages.back().name);
  }
  return stages;
}

}  // namespace assay::formats
