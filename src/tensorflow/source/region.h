#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/source/model.h"

namespace assay::tensorflow {

using Region = std::set<size_t>;  // nodes of a graph, by number

// The node that gives a value; nullptr: none does.
const SourceNode* producer_of(const SourceGraph& graph, std::string_view value);
// The value behind nodes that hand it on as it is.
std::string origin_of(const SourceGraph& graph, std::string value);
// Nodes that values need, not behind the values `ends`.
Region needed_for(const SourceGraph& graph, const std::vector<std::string>& values, const std::set<std::string>& ends);
// Nodes that need one of `begin`, and `begin`, not behind nodes of the operator `last`, which are among them.
Region depending_on(const SourceGraph& graph, const Region& begin, std::string_view last);
// The nodes of a region as a function.
SourceGraph function_of(const SourceGraph& graph, const Region& region, std::string name);
// Takes nodes away that stand in functions now: `gone`, and those of `moved` that nothing needs any more; puts `added`
// into their place.
void replace_nodes(SourceGraph& graph, const Region& gone, Region moved, SourceNode added);
// The name, or with a number, if a function has it.
std::string new_function_name(const SourceModel& model, const std::string& name);

}  // namespace assay::tensorflow
