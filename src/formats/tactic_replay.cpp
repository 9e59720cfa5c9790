#include "formats/tactic_replay.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "formats/json/json_reader.h"
#include "formats/json/python_json.h"

namespace assay::formats {
namespace {

std::string read_word(JsonReader& in, std::string_view layer) {
  if (in.peek() == JsonReader::Kind::number) {
    fail(ErrorCode::unsupported, "the tactic of `{}` is one of TensorRT", printable(layer));
  }
  return in.string().text();
}

std::string read_tactic(JsonReader& in, std::string_view layer) {
  std::string implementation;
  std::string variant;
  in.begin_object();
  for (std::string key; in.next_key(key);) {
    if (key == "implementation")
      implementation = read_word(in, layer);
    else if (key == "tactic")
      variant = read_word(in, layer);
    else
      in.skip();
  }
  if (implementation.empty()) fail(ErrorCode::parse, "`{}` has no implementation", printable(layer));
  return variant.empty() ? implementation : fmt::format("{}:{}", implementation, variant);
}

void read_layers(JsonReader& in, TacticReplay& replay) {
  in.begin_object();
  for (std::string layer; in.next_key(layer);) {
    std::string tactic = read_tactic(in, layer);
    replay.insert_or_assign(std::move(layer), std::move(tactic));
  }
}

}  // namespace

TacticReplay parse_tactic_replay(std::string_view text) {
  JsonReader in(text);
  TacticReplay replay;
  bool is_replay = false;
  in.begin_object();
  for (std::string key; in.next_key(key);) {
    is_replay = is_replay || key == "replay";
    key == "replay" ? read_layers(in, replay) : in.skip();
  }
  in.finish();
  if (!is_replay) fail(ErrorCode::parse, "it holds no tactics: there is no `replay`");
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
