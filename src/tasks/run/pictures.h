#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "exec/runner.h"
#include "results/scatter.h"
#include "tasks/run.h"

namespace assay::tasks {

// Draws pairs of outputs while they are compared, to files and for the page. The total number of cells kept for the
// page is bounded, whatever the number of outputs.
class Pictures {
 public:
  // Creates the folders for pictures. Error (io) if that fails.
  Pictures(const RunRequest& request, std::span<const exec::RunnerPtr> runners, Observer& observer);

  // A runner that is not compared.
  void leave_out(const std::string& runner) { std::erase(runners_, runner); }

  bool is_wanted() const { return wants_page_ || heat_maps_ || error_plots_; }
  void draw(const compare::ComparedAt& at, const tensor::Tensor& a, const tensor::Tensor& b,
            results::OutputComparison& output);

  // The failure after which nothing more is drawn. The comparison itself is still valid.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  void draw_all(const compare::ComparedAt& at, const tensor::Tensor& a, const tensor::Tensor& b,
                results::OutputComparison& output);
  void keep_for_page(const results::DifferenceMaps& maps, results::OutputComparison& output);
  void save_heat_maps(const compare::ComparedAt& at, const results::DifferenceMaps& maps, const std::string& name);
  void save_error_plot(const compare::ComparedAt& at, const results::Scatter& scatter, const std::string& name);
  // A file below `root` that this run has not written yet.
  std::filesystem::path free_path(const std::filesystem::path& root, const compare::ComparedAt& at,
                                  const std::string& name);

  std::vector<std::string> runners_;
  Observer& observer_;
  bool infinities_equal_;
  bool wants_page_;
  std::optional<std::filesystem::path> heat_maps_;
  std::optional<std::filesystem::path> error_plots_;
  std::set<std::filesystem::path> written_;
  uint64_t kept_cells_ = 0;
  std::optional<Error> failure_;
};

}  // namespace assay::tasks
