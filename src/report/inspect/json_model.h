#pragma once

#include <string>
#include <vector>

#include "formats/json/field_writer.h"
#include "report/json_parts.h"
#include "results/model_listing.h"

namespace assay::report {

// A model listing as one JSON object of the schema assay/inspect-model/1. Values of weights are written only on
// request.
class JsonModelListing : public results::ModelListingSink {
 public:
  JsonModelListing(bool with_layers, bool with_weights) : with_layers_(with_layers), with_weights_(with_weights) {}

  void overview(const results::ModelOverview& overview) override;
  void begin_graph(const results::GraphListing& graph) override;
  void begin_node(const results::NodeListing& node) override;
  void attribute(const results::AttributeListing& attribute) override;
  void end_node() override;
  void end_graph() override;

  // Ends the object; call once, at the end.
  std::string take_text(const Timings& timings);

 private:
  void initializers(const results::GraphListing& graph);
  void tensor(const tensor::Tensor& tensor);
  void begin_attributes();

  // Parts that must be closed at the end of the current graph or node.
  struct Open {
    results::GraphRole role;
    bool nodes = false;
  };

  JsonReport report_{"inspect model"};
  JsonWriter& json_ = report_.json;
  formats::FieldWriter fields_{json_};
  bool with_layers_;
  bool with_weights_;
  bool in_functions_ = false;
  std::vector<Open> graphs_;
  std::vector<bool> has_attributes_;  // of the nodes around the current place
};

}  // namespace assay::report
