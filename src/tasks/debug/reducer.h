#pragma once

#include <memory>
#include <set>

#include "debug/anonymize.h"
#include "debug/shrink.h"
#include "debug/subgraph.h"
#include "tasks/debug/check_loop.h"
#include "tasks/debug/comparing_judge.h"

namespace assay::tasks {

// A model that is cut, with what is known about its run.
struct ReducedBase {
  ReducedBase(ir::Model whole, tensor::NamedData given, uint64_t max_memory_bytes);
  ir::Model model;
  tensor::NamedData inputs;
  debug::Parts parts;
  ObservedValues values;
};

// The search for a smallest failing part of a model.
class Reducer {
 public:
  // `as_it_is`: the model before anything was changed in it.
  Reducer(const ReduceRequest& request, LoadedModel& loaded, const ir::Model& as_it_is, tensor::NamedData inputs,
          Observer& observer);

  // Error (unsupported) if the whole model cannot be judged, or too few values were saved to judge its parts.
  results::ReduceReport run();

 private:
  struct Good {
    std::shared_ptr<ReducedBase> base;
    debug::Subset parts;
  };

  bool compares() const { return !request_.comparison.backend.empty(); }
  void reduce();
  bool open();
  std::vector<debug::Verdict> judge(std::span<const debug::Subset> subsets, uint64_t remaining);
  debug::Subset closed(const debug::Subset& subset) const;
  Trial trial_of(const ir::Model& model, size_t node_count, std::string identity);
  ir::Model cut(ReducedBase& base, const debug::Subset& parts);
  void refuse_if_the_file_fails();
  void note_good(const debug::Subset& parts);
  void save_good();
  void save_result();
  debug::Verdict judge_whole();
  void find_units();
  void require_saved_values() const;
  debug::Subset parts_of(const debug::Subset& units) const;
  std::optional<tensor::Datum> value_of(ReducedBase& base, std::string_view name) const;
  ObservedValues* trusted(ReducedBase& base) const { return is_saved() ? nullptr : &base.values; }
  bool is_saved() const { return comparing_ && !comparing_->saved().empty(); }
  void confirm(const ir::Model& reduced);
  void shrink(ir::Model& reduced);
  void anonymize(ir::Model& reduced);
  void look_at(const ir::Model& changed, tensor::NamedData inputs);
  bool still_fails(const ir::Model& changed, tensor::NamedData inputs, const std::string& what);
  ReducedBase& result_base() { return changed_ ? *changed_ : *base_; }
  tensor::NamedData inputs_of(const ir::Model& part);
  void describe(const ir::Model& model);
  void write_reproducer(ir::Model& reduced);
  void save_copy(const ir::Model& model, const std::string& path) const;
  void save_to(ir::Model& model, const std::string& path) const;

  const ReduceRequest& request_;
  const ir::Model& as_it_is_;
  Observer& observer_;
  CheckLoop loop_;
  std::string identity_;
  std::shared_ptr<ReducedBase> base_;
  std::optional<ComparingJudge> comparing_;
  std::vector<debug::Subset> units_;  // of parts, which are judged together
  debug::Subset found_;               // parts
  std::vector<Good> good_;
  std::set<std::string> frozen_;
  std::shared_ptr<ReducedBase> changed_;    // the result, where it is not only a part: with plainer or other contents
  std::optional<debug::Verdict> of_whole_;  // of the model as it was given
  uint64_t whole_index_ = 0;                // of the round that judged it
  results::ReduceReport report_;
};

}  // namespace assay::tasks
