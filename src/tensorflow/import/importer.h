#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tensorflow/import/builder.h"
#include "tensorflow/import/site.h"
#include "tensorflow/source/model.h"

namespace assay::tensorflow {

// Makes a model of ONNX's operators of one of TensorFlow: those nodes that the outputs need.
class Importer {
 public:
  Importer(const SourceModel& source, ir::Model& model, bool keeps_values = false)
      : source_(source), builder_(model), keeps_values_(keeps_values) {}

  // Error (unsupported) with all operators that are not known, if there are such.
  void run();

  const SourceModel& source() const { return source_; }
  // Values of the main graph stay as they are there, also where nothing reads them.
  bool keeps_values() const { return keeps_values_ && builder_.graph() == builder_.main_graph(); }
  // A name in the function that is being imported.
  std::string scoped(const std::string& name) const { return scope_ + name; }
  // Makes the nodes of a function for these arguments, and gives its results. Error (parse) if it calls itself.
  std::vector<Item> call(const std::string& function, std::vector<Item> arguments, const std::string& scope);
  // Likewise for a node that calls it; results that nothing needs are not made.
  std::vector<Item> call(const std::string& function, const SourceNode& node, std::vector<Item> arguments,
                         const std::string& scope);
  const SourceGraph& function(const std::string& name) const;

  // Makes the nodes of a body that a node has: `fill` makes them and gives the outputs.
  template <typename Fill>
  void fill_body(ir::GraphId body, Fill&& fill) {
    Builder::Place outer = builder_.begin_body(body);
    builder_.edit().set_outputs(body, fill());
    builder_.sweep(body);
    builder_.end_body(std::move(outer));
  }

  // The value that a handle stands for. Error (unsupported) if the model has no such value.
  ir::ValueId variable(const Item& handle);
  // Outputs of a body: results of its own nodes.
  Values body_outputs(ir::GraphId graph, const std::vector<Item>& items);

 private:
  using Items = std::map<std::string, Item, std::less<>>;

  void add_inputs(Items& items);
  void add_outputs(const std::vector<Item>& outputs);
  ir::ValueId output(const Item& item, const std::string& name);
  std::vector<Item> call(const std::string& function, std::vector<Item> arguments, const std::string& scope,
                         const std::vector<bool>& wanted);
  std::vector<Item> import(const SourceGraph& graph, Items items, const std::vector<bool>& wanted);
  bool bind(const SourceGraph& graph, const std::string& value, Items& items);
  void make(const SourceGraph& graph, size_t node, Items& items);
  void count_node();

  const SourceModel& source_;
  Builder builder_;
  bool keeps_values_;
  std::string scope_;
  std::map<std::string, ir::ValueId> variables_;  // that were read
  std::set<std::string> output_names_;
  std::vector<std::string> active_;            // functions that are being imported
  std::vector<std::set<std::string>> needed_;  // values that outputs need, of the graphs that are being imported
  uint64_t nodes_ = 0;
};

}  // namespace assay::tensorflow
