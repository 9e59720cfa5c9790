#include "formats/tactic_replay.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "formats/json/json_reader.h"
#include "formats/json/python_json.h"

namespace assay::formats {
namespace {

// A word of ours, or a number of TensorRT.
std::string read_word(JsonReader& in) {
  return in.peek() == JsonReader::Kind::number ? fmt::format("{}", in.integer()) : in.string().text();
}

// A number that may be missing, as Python prints it.
std::string read_optional(JsonReader& in) {
  if (in.peek() == JsonReader::Kind::number) return fmt::format("{}", in.integer());
  in.null();
  return "None";
}

// `TensorInfo(DataType.FLOAT, (4, 1), -1, 1)`
std::string read_tensor(JsonReader& in) {
  std::string dtype;
  std::string dim = "None";
  std::string components = "None";
  std::vector<std::string> strides;
  in.begin_object();
  for (std::string key; in.next_key(key);) {
    if (key == "dtype") {
      dtype = in.string().text();
    } else if (key == "strides") {
      for (in.begin_array(); in.next_item();) strides.push_back(fmt::format("{}", in.integer()));
    } else if (key == "vectorized_dim") {
      dim = read_optional(in);
    } else if (key == "components_per_element") {
      components = read_optional(in);
    } else {
      in.skip();
    }
  }
  return fmt::format("TensorInfo({}, ({}{}), {}, {})", dtype, join(strides, ", "), strides.size() == 1 ? "," : "", dim,
                     components);
}

std::vector<std::string> read_tensors(JsonReader& in) {
  std::vector<std::string> tensors;
  for (in.begin_array(); in.next_item();) tensors.push_back(read_tensor(in));
  return tensors;
}

results::RecordedTactic read_tactic(JsonReader& in, std::string_view layer) {
  results::RecordedTactic tactic;
  in.begin_object();
  for (std::string key; in.next_key(key);) {
    if (key == "implementation")
      tactic.implementation = read_word(in);
    else if (key == "tactic")
      tactic.tactic = read_word(in);
    else if (key == "inputs")
      tactic.inputs = read_tensors(in);
    else if (key == "outputs")
      tactic.outputs = read_tensors(in);
    else
      in.skip();
  }
  if (tactic.implementation.empty()) fail(ErrorCode::parse, "`{}` has no implementation", printable(layer));
  return tactic;
}

void read_layers(JsonReader& in, results::RecordedTactics& tactics) {
  in.begin_object();
  for (std::string layer; in.next_key(layer);) {
    results::RecordedTactic tactic = read_tactic(in, layer);
    tactics.emplace_back(std::move(layer), std::move(tactic));
  }
}

bool is_number(std::string_view text) { return text.find_first_not_of("-0123456789") == std::string_view::npos; }

}  // namespace

results::RecordedTactics parse_recorded_tactics(std::string_view text) {
  JsonReader in(text);
  results::RecordedTactics tactics;
  bool is_replay = false;
  in.begin_object();
  for (std::string key; in.next_key(key);) {
    is_replay = is_replay || key == "replay";
    key == "replay" ? read_layers(in, tactics) : in.skip();
  }
  in.finish();
  if (!is_replay) fail(ErrorCode::parse, "it holds no tactics: there is no `replay`");
  return tactics;
}

TacticReplay parse_tactic_replay(std::string_view text) {
  TacticReplay replay;
  for (const auto& [layer, recorded] : parse_recorded_tactics(text)) {
    if (is_number(recorded.implementation)) {
      fail(ErrorCode::unsupported, "the tactic of `{}` is one of TensorRT", printable(layer));
    }
    replay[layer] = recorded.tactic.empty() ? recorded.implementation
                                            : fmt::format("{}:{}", recorded.implementation, recorded.tactic);
  }
  return replay;
}

void save_tactic_replay(const TacticReplay& replay, const std::filesystem::path& path) {
  OutputFile file(path);
  PythonJson out(file);
  out.begin_object();
  out.key("replay");
  out.begin_object();
  for (const auto& [layer, tactic] : replay) {
    const size_t colon = std::min(tactic.find(':'), tactic.size());
    out.key(layer);
    out.begin_object();
    out.key("implementation");
    out.string(std::string_view(tactic).substr(0, colon));
    out.key("tactic");
    out.string(std::string_view(tactic).substr(std::min(colon + 1, tactic.size())));
    for (const char* const operands : {"inputs", "outputs"}) {
      out.key(operands);
      out.begin_array();
      out.end_array();
    }
    out.key("polygraphy_class");
    out.string("Algorithm");
    out.end_object();
  }
  out.end_object();
  out.key("polygraphy_class");
  out.string("TacticReplayData");
  out.end_object();
  file.commit();
}

}  // namespace assay::formats
