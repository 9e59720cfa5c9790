#include "tasks/sweep/driver.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "sweep/folder.h"
#include "sweep/keys.h"
#include "sweep/signature.h"

namespace assay::tasks {
namespace {

using results::UnitStatus;

bool is_worth_another(UnitStatus status) {
  return status == UnitStatus::died || status == UnitStatus::timeout || status == UnitStatus::memory;
}

std::string journal_name(const SweepRequest& request, size_t worker) {
  const sweep::Share& part = request.part;
  return part.count > 1 ? fmt::format("s{}of{}-w{}.jsonl", part.index, part.count, worker)
                        : fmt::format("w{}.jsonl", worker);
}

}  // namespace

Driver::Driver(const SweepRequest& request, const results::SweepPlan& plan, Workers& workers,
               std::set<std::string> done, Observer& observer)
    : request_(request),
      plan_(plan),
      workers_(workers),
      done_(std::move(done)),
      counter_(observer, "units"),
      slots_(workers.count()) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const std::filesystem::path path = sweep::journal_folder(request.folder) / journal_name(request, i);
    journals_.push_back(std::make_unique<sweep::JournalWriter>(path));
  }
  make_tasks();
}

// Units of one model and shard are run together, so that the reference is run once for all of them.
void Driver::make_tasks() {
  std::set<std::string> taken;
  uint64_t groups = 0;
  uint64_t units = 0;
  for (const sweep::UnitAt& at : sweep::units_of(plan_)) {
    if (at.column == 0) ++groups;
    if ((groups - 1) % request_.part.count != request_.part.index) continue;
    const std::string key = sweep::unit_key(plan_, at);
    if (done_.contains(key) || !taken.insert(key).second) continue;
    const bool is_same =
        !tasks_.empty() && tasks_.back().group.model == at.model && tasks_.back().group.shard == at.shard;
    if (!is_same) tasks_.push_back({{at.model, at.shard, {}}, 0});
    tasks_.back().group.columns.push_back(at.column);
    ++units;
  }
  counter_.expect(units);
}

bool Driver::is_idle() const {
  return std::ranges::none_of(slots_, [](const Slot& slot) { return slot.task.has_value(); });
}

void Driver::start(size_t worker) {
  if (tasks_.empty() && !later_.empty() && is_idle()) {
    tasks_.push_back(std::move(later_.front()));
    later_.pop_front();
  }
  if (tasks_.empty()) return;
  Slot& slot = slots_[worker];
  slot.task = std::move(tasks_.front());
  tasks_.pop_front();
  slot.left = {slot.task->group.columns.begin(), slot.task->group.columns.end()};
  slot.at.reset();
  slot.has_begun = false;
  workers_.send(worker, run_line(slot.task->group));
}

double Driver::seconds_to_wait() const {
  constexpr double kLongest = 0.5;  // until an observer is asked whether to go on
  double seconds = kLongest;
  if (request_.timeout_seconds == 0) return seconds;
  for (const Slot& slot : slots_) {
    if (slot.task && slot.has_begun)
      seconds = std::min(seconds, std::max(0.001, request_.timeout_seconds - slot.since.seconds()));
  }
  return seconds;
}

void Driver::run() {
  while (!tasks_.empty() || !later_.empty() || !is_idle()) {
    for (size_t worker = 0; worker < slots_.size(); ++worker) {
      if (!slots_[worker].task) start(worker);
    }
    record_all();
    for (const WorkerEvent& event : workers_.wait(seconds_to_wait())) hear(event);
    for (size_t worker = 0; worker < slots_.size(); ++worker) check_time(worker);
  }
  record_all();
}

void Driver::hear(const WorkerEvent& event) {
  Slot& slot = slots_[event.worker];
  if (!event.has_ended) {
    slot.since = Stopwatch();
    slot.has_begun = true;
    hear_line(event.worker, event.text);
  } else if (slot.task) {
    lose(event.worker, UnitStatus::died, "the worker " + event.text);
  }
}

void Driver::hear_line(size_t worker, const std::string& line) {
  constexpr std::string_view kAt = "at ";
  constexpr std::string_view kUnit = "unit ";
  Slot& slot = slots_[worker];
  if (!slot.task) return;
  if (line.starts_with(kAt)) {
    size_t column = 0;
    std::from_chars(line.data() + kAt.size(), line.data() + line.size(), column);
    slot.at = column;
  } else if (line.starts_with(kUnit)) {
    const results::SweepUnit unit = sweep::parse_record(std::string_view(line).substr(kUnit.size()));
    const auto column = std::ranges::find_if(slot.left, [&](size_t number) {
      return plan_.columns[number].variant == unit.variant && plan_.columns[number].side == unit.side;
    });
    if (column == slot.left.end()) return;
    const size_t number = *column;
    slot.left.erase(column);
    settle(worker, *slot.task, number, unit);
  } else if (line == "done") {
    slot.task.reset();
  }
}

void Driver::check_time(size_t worker) {
  const Slot& slot = slots_[worker];
  if (request_.timeout_seconds == 0 || !slot.task || !slot.has_begun || slot.since.seconds() < request_.timeout_seconds)
    return;
  workers_.end(worker);
  lose(worker, UnitStatus::timeout, fmt::format("no answer within {:g} s", request_.timeout_seconds));
}

void Driver::lose(size_t worker, UnitStatus status, const std::string& reason) {
  Slot& slot = slots_[worker];
  const Task task = *std::exchange(slot.task, std::nullopt);
  if (slot.left.empty()) return;
  const bool is_reference = slot.at == 0;
  const bool is_known = slot.at && (slot.left.contains(*slot.at) || is_reference);
  const size_t guilty = is_known ? *slot.at : *slot.left.begin();
  const auto failed = [&](size_t column, UnitStatus how, const std::string& why) {
    results::SweepUnit unit = sweep::blank_unit(plan_, {task.group.model, column, task.group.shard});
    unit.first_sample = plan_.shards[task.group.shard].begin;
    unit.status = how;
    unit.reason = why;
    unit.signature = sweep::signature(fmt::format("{}: {}", plan_.columns[column].side, why));
    settle(worker, task, column, unit);
  };
  Task rest{{task.group.model, task.group.shard, {}}, task.attempt};
  for (const size_t column : slot.left) {
    if (column == guilty)
      failed(column, status, reason);
    else if (is_reference)
      failed(column, status, "no reference: " + reason);
    else
      rest.group.columns.push_back(column);
  }
  if (!rest.group.columns.empty()) tasks_.push_front(std::move(rest));
}

void Driver::settle(size_t worker, const Task& task, size_t column, const results::SweepUnit& unit) {
  if (is_worth_another(unit.status) && task.attempt < request_.retries) {
    later_.push_back({{task.group.model, task.group.shard, {column}}, task.attempt + 1});
    return;
  }
  unrecorded_.emplace_back(worker, unit);
}

void Driver::record_all() {
  for (const auto& [worker, unit] : unrecorded_) {
    journals_[worker]->add(unit);
    counter_.advance();
  }
  unrecorded_.clear();
}

}  // namespace assay::tasks
