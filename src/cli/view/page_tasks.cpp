#include "cli/view/page_tasks.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "tasks/program_run.h"

namespace assay::cli {
namespace {

constexpr size_t kMostEvents = 1000;  // that are kept for pages that come later

constexpr std::array<std::string_view, 5> kCommands = {"run", "profile", "debug accuracy", "check lint",
                                                       "check compatibility"};
constexpr std::string_view kValuesFile = "values.json";  // that a page may name for what a run saves
constexpr std::array<std::string_view, 7> kFlags = {"--onnxrt",   "--engine",       "--openvino", "--ref",
                                                    "--ref-fp64", "--onnx-outputs", "--against"};

bool saves_values(const std::vector<std::string>& words) {
  return words.size() > 2 && words[words.size() - 2] == "--save-outputs" && words.back() == kValuesFile;
}

std::string one_line(std::string json) {
  std::erase(json, '\n');
  return json;
}

std::string progress_event(uint64_t id, std::string_view text) {
  JsonWriter json;
  json.begin_object();
  json.field("type", "progress");
  json.field("id", id);
  json.field("text", printable(text));
  json.end_object();
  return one_line(json.text());
}

struct Ending {
  int status = 0;
  bool is_cancelled = false;
  std::string error;
  const results::Overlay* overlay = nullptr;
  size_t number = 0;
};

std::string done_event(uint64_t id, const Ending& ending) {
  JsonWriter json;
  json.begin_object();
  json.field("type", "done");
  json.field("id", id);
  json.field("status", ending.status);
  if (ending.is_cancelled) json.field("cancelled", true);
  if (!ending.error.empty()) json.field("error", ending.error);
  if (ending.overlay != nullptr) {
    json.field("overlay", std::to_string(ending.number));
    json.field("title", ending.overlay->title);
    json.field("what", ending.overlay->what);
  }
  json.end_object();
  return one_line(json.text());
}

}  // namespace

void check_page_command(const std::vector<std::string>& words, std::string_view model) {
  const auto command = std::ranges::find_if(kCommands, [&](std::string_view known) {
    const std::vector<std::string_view> call = split(known, ' ');
    return call.size() < words.size() && std::equal(call.begin(), call.end(), words.begin());
  });
  if (command == kCommands.end()) fail(ErrorCode::usage, "a page cannot start this command");
  const size_t place = split(*command, ' ').size();
  if (words[place] != model) fail(ErrorCode::usage, "a page can only start commands on the model that it shows");
  bool takes_names = false;
  for (size_t i = place + 1; i < words.size(); ++i) {
    if (i + 2 == words.size() && saves_values(words)) return;
    const bool is_flag = words[i].starts_with('-');
    if (is_flag && std::ranges::find(kFlags, words[i]) == kFlags.end()) {
      fail(ErrorCode::usage, "a page cannot use `{}`", printable(words[i]));
    }
    if (is_flag) takes_names = words[i] == "--onnx-outputs" || words[i] == "--against";
    if (!is_flag && !takes_names) fail(ErrorCode::usage, "a page cannot name `{}`", printable(words[i]));
  }
}

PageTasks::~PageTasks() {
  worker_.request_stop();
  if (worker_.joinable()) worker_.join();
}

void PageTasks::tell(std::string event) {
  const std::scoped_lock lock(mutex_);
  add_event(std::move(event));
}

void PageTasks::add_event(std::string event) {
  events_.push_back(std::move(event));
  if (events_.size() > kMostEvents) {
    events_.pop_front();
    ++dropped_;
  }
  changed_.notify_all();
}

size_t PageTasks::event_count() {
  const std::scoped_lock lock(mutex_);
  return dropped_ + events_.size();
}

std::vector<std::string> PageTasks::events_from(size_t first, double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return dropped_ + events_.size() > first; });
  const size_t skipped = first > dropped_ ? std::min(first - dropped_, events_.size()) : 0;
  return {events_.begin() + static_cast<ptrdiff_t>(skipped), events_.end()};
}

void PageTasks::run(const std::stop_token& stop, uint64_t id, std::vector<std::string> words) {
  const std::string report = (folder_.path() / fmt::format("{}.json", id)).string();
  if (saves_values(words))
    words.back() = report;
  else
    words.insert(words.end(), {"--json", report});
  Ending ending;
  try {
    std::string last;
    ending.status = tasks::run_program(
        words,
        [&](std::string_view line) {
          if (line.find_first_not_of(' ') == std::string_view::npos) return;
          last = printable(line);
          tell(progress_event(id, line));
        },
        stop);
    ending.is_cancelled = stop.stop_requested();
    const bool has_report = !ending.is_cancelled && std::filesystem::exists(report);
    if (!ending.is_cancelled && !has_report) ending.error = last;
    if (has_report) {
      ending.number = view_.add_report(report);
      ending.overlay = &view_.overlay(ending.number);
    }
  } catch (const Error& error) {
    ending.error = error.line();
  }
  // Nothing may be waited for behind this: the next task begins by joining this thread, and holds the lock.
  const std::scoped_lock lock(mutex_);
  is_running_ = false;
  add_event(done_event(id, ending));
}

uint64_t PageTasks::start(const std::vector<std::string>& words) {
  check_page_command(words, view_.scene(0).file);
  const std::scoped_lock lock(mutex_);
  if (is_running_) fail(ErrorCode::usage, "another task is running");
  is_running_ = true;
  const uint64_t id = ++last_id_;
  worker_ = std::jthread([this, id, words](const std::stop_token& stop) { run(stop, id, words); });
  return id;
}

void PageTasks::cancel(uint64_t id) {
  const std::scoped_lock lock(mutex_);
  if (is_running_ && id == last_id_) worker_.request_stop();
}

}  // namespace assay::cli
