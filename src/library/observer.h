#pragma once

#include "assay/observer.h"
#include "tasks/observer.h"

namespace assay::library {

Finding to_finding(const Diagnostic& diagnostic);

// A caller's observer in the place of a task's.
class TaskObserver final : public tasks::Observer {
 public:
  // Null: nobody looks.
  explicit TaskObserver(assay::Observer* observer) : observer_(observer) {}

  void on_message(LogLevel level, std::string_view text, Where) override {
    if (observer_ != nullptr && level >= LogLevel::info) observer_->on_message(text);
  }
  void on_finding(const Diagnostic& finding) override {
    if (observer_ != nullptr) observer_->on_finding(to_finding(finding));
  }
  void on_progress(const tasks::Progress& progress) override {
    if (observer_ == nullptr || progress.is_over) return;
    observer_->on_progress({progress.what, progress.done, progress.total, progress.seconds});
  }
  void on_traceback(std::string_view lines) override {
    if (observer_ != nullptr) observer_->on_message(lines);
  }
  bool is_cancelled() override { return observer_ != nullptr && observer_->is_cancelled(); }

 private:
  assay::Observer* observer_;
};

}  // namespace assay::library
