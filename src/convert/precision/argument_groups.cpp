#include "convert/precision/argument_groups.h"

namespace assay::convert {
namespace {

class Grouper {
 public:
  ArgumentGroup& group_of(const schema::ArgumentSchema& argument) {
    const bool is_variadic = argument.option == schema::ArgumentOption::variadic;
    const bool is_alone = argument.variable.empty() || (is_variadic && !argument.homogeneous);
    for (size_t i = 0; !is_alone && i < groups_.size(); ++i) {
      if (variables_[i] == argument.variable) return groups_[i];
    }
    variables_.push_back(is_alone ? std::string_view() : argument.variable);
    return groups_.emplace_back(ArgumentGroup{&argument.types, {}, {}});
  }
  std::vector<ArgumentGroup> take() { return std::move(groups_); }

 private:
  std::vector<ArgumentGroup> groups_;
  std::vector<std::string_view> variables_;  // of the groups; empty: none
};

}  // namespace

std::vector<ArgumentGroup> argument_groups(const ir::Node& node, const schema::Schema& schema) {
  Grouper grouper;
  for (uint32_t i = 0; i < node.operands.size(); ++i) {
    const schema::ArgumentSchema* argument = schema.input(i);
    if (argument && node.operands[i].value) grouper.group_of(*argument).operands.push_back(i);
  }
  for (uint32_t i = 0; i < node.results.size(); ++i) {
    const schema::ArgumentSchema* argument = schema.output(i);
    if (argument && node.results[i]) grouper.group_of(*argument).results.push_back(i);
  }
  return grouper.take();
}

}  // namespace assay::convert
