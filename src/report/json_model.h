#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "results/model_listing.h"

namespace assay::report {

// A model listing as one JSON object of the schema assay/inspect-model/1. Values of weights are written only when asked
// for.
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
  std::string take_text(const std::vector<std::pair<std::string, double>>& timings);

 private:
  void counts(const results::ModelOverview& overview);
  void quantization(const results::QuantizationSummary& summary);
  void functions(const std::vector<results::FunctionListing>& functions);
  void findings(const results::ModelOverview& overview);
  void values(std::string_view key, const std::vector<results::ValueInfo>& infos);
  void initializers(const results::GraphListing& graph);
  void tensor(const tensor::Tensor& tensor);
  void begin_attributes();

  // What must be closed at the end of the current graph or node.
  struct Open {
    results::GraphRole role;
    bool nodes = false;
  };

  JsonWriter json_;
  bool with_layers_;
  bool with_weights_;
  bool in_functions_ = false;
  std::vector<Open> graphs_;
  std::vector<bool> has_attributes_;  // of the nodes around the current place
};

// Writes {"name": …, "dtype": …, "shape": …}.
void write_value_info(JsonWriter& json, const results::ValueInfo& info);
void write_findings(JsonWriter& json, const std::vector<Diagnostic>& findings);
// Writes "key": [1, 2, …].
void write_numbers(JsonWriter& json, std::string_view key, const std::vector<int64_t>& numbers);
// Writes "key": ["a", "b"].
void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts);
void write_timings(JsonWriter& json, const std::vector<std::pair<std::string, double>>& timings);
// The elements of a tensor as a flat array; a text that says why where they cannot be read.
void write_elements(JsonWriter& json, const tensor::Tensor& tensor);

}  // namespace assay::report
