#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/overlay.h"
#include "results/scene.h"
#include "results/value_facts.h"
#include "tasks/load.h"
#include "tasks/observer.h"

namespace assay::tasks {

// A model to look at, another one beside it, and files that say something about it.
struct ViewRequest {
  ModelSource model;
  std::optional<ModelSource> other;
  std::vector<std::string> with;  // reports, plans, saved inputs and outputs
};

// A part of a value, as rows and columns.
struct SliceRequest {
  std::string at;      // in NumPy's notation; empty: all of it
  std::string reduce;  // `max`, `min`, `mean`; empty: max
  size_t most = 512;   // rows and columns
};

// The state of one page. Calls may come from several threads; each takes its turn.
class View {
 public:
  // Loads the models; an Error is that of a file that is none. What is shown of them is made in a thread of its own,
  // and calls wait for as much of it as they need. Tells the observer, which outlives the view, the findings, and what
  // of `with` is damaged or about something else: the rest is shown.
  View(const ViewRequest& request, Observer& observer);
  ~View();
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  // Returns when all is made; throws what went wrong.
  void wait() const;

  size_t scene_count() const;
  const std::string& file(size_t scene) const;
  const results::Scene& scene(size_t number) const;
  size_t overlay_count() const;
  const results::Overlay& overlay(size_t number) const;
  // Adds what a report says; its number. Error (parse, unsupported) as for a file.
  size_t add_report(const std::string& path);
  // Likewise of a report in memory, under the name of a source.
  void add_text(const std::string& json, const std::string& source);

  // Numbers that nothing has are Errors (usage).
  results::NodeFacts node(size_t scene, uint32_t item) const;
  results::ValueFacts value(size_t scene, uint32_t value) const;
  results::ValueSlice slice(size_t scene, uint32_t value, const SliceRequest& request) const;
  results::ValueComparison compare(size_t scene, uint32_t value) const;
  // Boxes with an attribute, or documentation, in which the words stand: `axis`, `axis=1`.
  std::vector<uint32_t> search(size_t scene, std::string_view words) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The text, or the texts of the list, that a JSON object has under a key; none where it has none. Error (parse).
std::vector<std::string> text_fields(std::string_view json, std::string_view key);
std::string text_field(std::string_view json, std::string_view key);

}  // namespace assay::tasks
