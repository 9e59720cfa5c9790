#pragma once

#include <map>
#include <string>
#include <vector>

#include "tensorflow/import/importer.h"
#include "tensorflow/import/lists.h"

namespace assay::tensorflow {

// A While, made as Loop. States that the body hands on as they are stand still: the body uses what is there where the
// node stands. Of a list that the body only writes to, one tensor in each round, the Loop collects the tensors. Others
// go round. Counters that are compared with what stands still give the number of rounds; else the condition does.
class Loop {
 public:
  explicit Loop(Site& site);

  void make();

 private:
  enum class Kind { still, carried, collected };
  struct State {
    Kind kind = Kind::still;
    Item before;
    ir::ValueId inside;  // of those that go round: the input of the body
    Item after_round;
    bool has_places = false;  // of those that are collected: the Loop gives the indices too
  };
  // A counter that ends the loop when it comes to the bound.
  struct Bound {
    ir::ValueId first;
    ir::ValueId bound;
  };

  Kind kind_of(size_t state) const;
  void begin();
  // Makes the body for types that states have; false: they got others by that, which it must be made for again.
  bool fill();
  Values fill_once();
  Item item_inside(const State& state);
  std::vector<Item> items_inside();
  ir::ValueId tested(const std::vector<Item>& states, const std::string& scope);
  void find_bounds(ir::ValueId condition);
  bool add_bounds(ir::ValueId condition);
  bool is_still(ir::ValueId value) const;
  const State* counter(ir::ValueId value) const;
  bool counts_rounds(ir::ValueId index) const;
  ir::ValueId trips();
  Values finish();
  void give(const Values& results);
  Item result(const State& state, ir::ValueId value);
  std::string types() const;
  std::string prefix() const { return site_.node().name; }

  Site& site_;
  Importer& importer_;
  Builder& build_;
  const SourceGraph& body_source_;
  std::vector<State> states_;
  ir::GraphId body_;
  ir::NodeId provisional_;
  ir::ValueId goes_on_;  // the input of the body
  std::vector<Bound> bounds_;
  bool has_bounds_ = false;
};

}  // namespace assay::tensorflow
