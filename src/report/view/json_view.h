#pragma once

#include <string>
#include <vector>

#include "results/overlay.h"
#include "results/scene.h"
#include "results/value_facts.h"

namespace assay::report {

// The parts that a page shows.
struct ViewSubject {
  size_t scene_count = 1;
  std::vector<const results::Overlay*> overlays;  // the id of each is its place
  uint64_t revision = 0;
  bool has_tasks = false;
  std::string command;
};

std::string subject_json(const ViewSubject& subject);
std::string node_json(const results::NodeFacts& facts);
std::string value_json(const results::ValueFacts& facts);
std::string comparison_json(const results::ValueComparison& comparison);
std::string items_json(const std::vector<uint32_t>& items);

}  // namespace assay::report
