#include "debug/replay.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

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

// With what begins the object, or divides it from the one before.
std::string entry_of(const std::string& key, const JudgedIteration& judged, bool is_first) {
  JsonWriter json;
  json.begin_object();
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
  json.end_object();
  const std::string text = json.text();
  const size_t begin = text.find('{') + 1;
  return (is_first ? "{" : ",") + text.substr(begin, text.rfind('}') - 1 - begin);
}

// Replaces what is behind `begin` in a file.
void write_end(const std::filesystem::path& path, uint64_t begin, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  bool is_written = fd >= 0;
  for (size_t done = 0; is_written && done < text.size();) {
    const ssize_t count = pwrite(fd, text.data() + done, text.size() - done, static_cast<off_t>(begin + done));
    if (count < 0 && errno == EINTR) continue;
    is_written = count > 0;
    done += is_written ? static_cast<size_t>(count) : 0;
  }
  is_written = is_written && ftruncate(fd, static_cast<off_t>(begin + text.size())) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  if (!is_written) fail(ErrorCode::io, "cannot write `{}`: {}", printable(path.string()), std::strerror(error));
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

ReplayWriter::ReplayWriter(const std::filesystem::path& path) {
  if (path.empty()) return;
  judged_.path = path;
  with_current_.path = path.parent_path() / (path.stem().string() + "_skip_current" + path.extension().string());
}

void ReplayWriter::add(const std::string& key, const JudgedIteration& judged) {
  if (judged_.path.empty()) return;
  text_ += entry_of(key, judged, text_.empty());
  write(judged_, "");
}

void ReplayWriter::note_current(const std::string& key, JudgedIteration judged) {
  if (judged_.path.empty()) return;
  judged.passed = false;
  write(with_current_, entry_of(key, judged, text_.empty()));
}

// Goes on in the file, if nobody has changed it.
void ReplayWriter::write(File& file, std::string_view current) {
  const std::string all_end = std::string(current) + "\n}";
  std::error_code ignored;
  if (file.kept > 0 && std::filesystem::file_size(file.path, ignored) == file.size) {
    write_end(file.path, file.kept, text_.substr(file.kept) + all_end);
  } else {
    OutputFile whole(file.path);
    whole.write(text_);
    whole.write(all_end);
    whole.commit();
  }
  file.kept = text_.size();
  file.size = text_.size() + all_end.size();
}

}  // namespace assay::debug
