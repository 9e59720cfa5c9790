#include "debug/replay.h"

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "formats/json/json_reader.h"

namespace assay::debug {
namespace {

using formats::JsonReader;

void read_state(JsonReader& in, JudgedIteration& read) {
  in.begin_object();
  for (std::string key; in.next_key(key);) {
    if (key == "num_nodes")
      read.node_count = static_cast<uint64_t>(in.integer());
    else if (key == "subject")
      read.subject = in.string().text();
    else
      in.skip();
  }
}

void read_info(JsonReader& in, JudgedIteration& read) {
  in.begin_object();
  for (std::string key; in.next_key(key);) {
    if (key == "iteration")
      read.index = static_cast<uint64_t>(in.integer());
    else
      in.skip();
  }
}

JudgedIteration read_iteration(JsonReader& in) {
  JudgedIteration read;
  bool is_judged = false;
  in.begin_object();
  for (std::string key; in.next_key(key);) {
    if (key == "success") {
      is_judged = true;
      read.passed = in.boolean();
    } else if (key == "state" && in.peek() == JsonReader::Kind::object) {
      read_state(in, read);
    } else if (key == "iteration_info" && in.peek() == JsonReader::Kind::object) {
      read_info(in, read);
    } else {
      in.skip();
    }
  }
  if (!is_judged) in.fail_here("an iteration without `success`: this is no debug replay");
  return read;
}

}  // namespace

Replay load_replay(const std::filesystem::path& path) {
  return with_frame([&] { return fmt::format("loading `{}`", printable(path.string())); },
                    [&] {
                      const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
                      const Bytes bytes = file->bytes();
                      JsonReader in({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
                      Replay replay;
                      in.begin_object();
                      for (std::string key; in.next_key(key);) replay.insert_or_assign(key, read_iteration(in));
                      in.finish();
                      return replay;
                    });
}

void save_replay(const Replay& replay, const std::filesystem::path& path) {
  JsonWriter json;
  json.begin_object();
  for (const auto& [key, judged] : replay) {
    json.key(key);
    json.begin_object();
    json.key("state");
    json.begin_object();
    if (judged.node_count) json.field("num_nodes", *judged.node_count);
    json.field("subject", judged.subject);
    json.end_object();
    json.key("iteration_info");
    json.begin_object();
    json.field("iteration", judged.index);
    json.end_object();
    json.field("success", judged.passed);
    json.field("polygraphy_class", "IterationContext");
    json.end_object();
  }
  json.end_object();
  OutputFile file(path);
  file.write(json.text());
  file.commit();
}

std::filesystem::path skip_path(const std::filesystem::path& path) {
  return path.parent_path() / (path.stem().string() + "_skip_current" + path.extension().string());
}

}  // namespace assay::debug
