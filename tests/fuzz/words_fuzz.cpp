// The words and small files of the editing commands. The first byte says which: only Error may come out of its parser,
// and of the operation that it is for on a small model; what has a writer is written and read again, the same.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "base/yaml.h"
#include "cli/edit/attribute_words.h"
#include "cli/edit/boundary_words.h"
#include "cli/edit/size_bound_words.h"
#include "formats/calibration_cache.h"
#include "formats/plugin_config.h"
#include "formats/shard_hints.h"
#include "ir/verify.h"
#include "match/find.h"
#include "onnx/export.h"
#include "onnx/text.h"
#include "support/fuzzing.h"
#include "support/memory_file.h"
#include "surgery/plugin/pattern_file.h"
#include "surgery/plugin/replace.h"
#include "surgery/shard/shard.h"

namespace {

using namespace assay;
using namespace testing_support;

constexpr std::string_view kOption = "--option";
constexpr std::string_view kModel =
    "g (float[8,4,4] q, float[8,4,4] k, float[8,N,4] x) => (float[8,4,4] y, float[8,N,4] z) <float[4] w = {1,2,3,4}> "
    "{\n"
    "  s = MatMul(q, k)\n  p = Softmax(s)\n  y = MatMul(p, k)\n"
    "  c = Mul(w, x)\n  r = Relu(c)\n  m = Max(r)\n  z = Add(m, c)\n}";

ir::Model small_model() {
  Diagnostics findings;
  return onnx::parse_text(kModel, findings);
}

void check(const ir::Model& model) {
  ir::check_structure(model);
  onnx::encode(model);
}

void extract(const surgery::Extraction& extraction) {
  ir::Model model = small_model();
  Diagnostics findings;
  surgery::extract(model, extraction, findings);
  check(model);
}

void input(std::string_view text) {
  const surgery::Boundary boundary = cli::parse_input_boundary(kOption, text);
  require(!boundary.name.empty(), "a boundary has a name");
  for (const surgery::BoundaryDim& dim : boundary.shape.value_or(std::vector<surgery::BoundaryDim>())) {
    const int64_t* const number = std::get_if<int64_t>(&dim);
    require(!number || *number >= 0, "no dim is below 0");
  }
  extract({{boundary}, {}});
}

void attribute(std::string_view text) {
  const surgery::NamedAttribute attribute = cli::parse_attribute(kOption, text);
  require(!attribute.name.empty(), "an attribute has a name");
  ir::Model model = small_model();
  Diagnostics findings;
  surgery::insert(model,
                  {.op = "Op", .domain = "", .name = "", .inputs = {"c"}, .outputs = {"c"}, .attributes = {attribute}},
                  findings);
  check(model);
}

void pattern(std::string_view text) {
  const surgery::PluginPattern plugin = surgery::parse_pattern_file(text, "plugin");
  ir::Model model = small_model();
  results::PluginMatches found{plugin.name, plugin.op, plugin.domain, {}};
  for (const match::Match& match : match::find(model, plugin.pattern)) {
    found.instances.push_back(surgery::instance_of(model, plugin, match));
  }
  surgery::replace_instances(model, found);
  check(model);
}

void size_bounds(std::string_view text) {
  const std::string words[] = {std::string(text)};
  for (const tasks::NamedSizeBound& word : cli::parse_size_bounds(words)) require(word.bound >= 0, "a bound");
}

void yaml(std::string_view text) {
  if (is_utf8(text)) {
    const std::vector<YamlNode> documents = parse_yaml(yaml_text(text));  // an Error is a failure
    require(documents.size() == 1 && documents[0].text == text, "the same text");
  }
  parse_yaml(text);
}

void plugin_config(std::string_view text) {
  const std::vector<results::PluginMatches> plugins = formats::parse_plugin_config(text);
  const std::string written = formats::plugin_config_text(plugins);
  require(formats::plugin_config_text(formats::parse_plugin_config(written)) == written, "the same plugins");
  ir::Model model = small_model();
  for (const results::PluginMatches& plugin : plugins) surgery::replace_instances(model, plugin);
  check(model);
}

std::string shard_text(const formats::ShardHints& hints) {
  const MemoryFile memory;
  OutputFile file(memory.path());
  formats::write_shard_hints(hints, file);
  file.commit();
  return memory.content();
}

void shard_hints(std::string_view text) {
  const formats::ShardHints hints = formats::parse_shard_hints(text);
  const std::string written = shard_text(hints);
  require(shard_text(formats::parse_shard_hints(written)) == written, "the same hints");
  ir::Model model = small_model();
  surgery::shard(model, hints);
  check(model);
}

void calibration_cache(std::string_view text) {
  const formats::CalibrationCache cache = formats::parse_calibration_cache(text);
  const formats::CalibrationCache again = formats::parse_calibration_cache(formats::calibration_cache_text(cache));
  require(again.algorithm == cache.algorithm && again.scales == cache.scales, "the same scales");
}

void parse(char which, std::string_view text) {
  switch (which) {
    case 'a':
      return attribute(text);
    case 'b':
      return size_bounds(text);
    case 'c':
      return calibration_cache(text);
    case 'h':
      return shard_hints(text);
    case 'i':
      return input(text);
    case 'm':
      return plugin_config(text);
    case 'o':
      return extract({{}, {cli::parse_output_boundary(kOption, text)}});
    case 'p':
      return pattern(text);
    case 'y':
      return yaml(text);
    default:
      return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  try {
    parse(static_cast<char>(data[0]), {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const Error& error) {
    const std::string line = error.line();
    require(!line.empty() && line.find_first_of("\n\r") == std::string::npos, "one line");
  }
  return 0;
}
