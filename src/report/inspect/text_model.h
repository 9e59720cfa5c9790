#pragma once

#include <string>
#include <vector>

#include "results/model_listing.h"

namespace assay::report {

struct TextListingOptions {
  bool layers = false;
  bool attributes = false;
  bool weights = false;
  bool is_brief = false;     // without the title and the summary
  bool is_as_there = false;  // the peer's lines only, with an unknown rank as that of a scalar
};

// `4.11 GMACs (4113744896), 51200000 bytes`; formulas as they are.
std::string cost_text(const results::Cost& cost);

// A model listing as text in the layout that users of the peer know, followed by a summary.
class TextModelListing : public results::ModelListingSink {
 public:
  explicit TextModelListing(TextListingOptions options) : options_(options) {}

  void overview(const results::ModelOverview& overview) override;
  void begin_graph(const results::GraphListing& graph) override;
  void begin_node(const results::NodeListing& node) override;
  void attribute(const results::AttributeListing& attribute) override;
  void end_node() override;
  void end_graph() override;

  // Reasons why weights could not be read, with is_as_there.
  const std::vector<std::string>& unread() const { return unread_; }
  // The whole text, without a final line break; call once, at the end.
  std::string take_text();

 private:
  void line(std::string_view text);
  void block(std::string_view text, size_t indent);
  void blank() { line(""); }
  std::string marked_text(const std::vector<results::ValueInfo>& infos) const;
  void title(const results::GraphListing& graph);
  void initializers(const results::GraphListing& graph);
  void weights(const results::GraphListing& graph);
  void begin_attributes();
  std::string attribute_text(const results::AttributeListing& attribute);
  std::string tensor_text(const tensor::Tensor& tensor);
  std::string values_text(const tensor::Tensor& tensor);

  TextListingOptions options_;
  std::string text_;
  std::string summary_;
  std::vector<std::string> unread_;
  // One entry per enclosing node.
  struct NodeContext {
    std::string prefix;
    bool has_attributes = false;
    std::string_view type_attribute;
  };
  std::vector<NodeContext> nodes_;
  size_t indent_ = 0;
};

struct TensorsTextOptions {
  bool marks_initializers = false;
  bool shows_unknown_ranks = false;  // shown like those of scalars
};

// `{x [dtype=float32, shape=('N', 3)],\n y}`.
std::string tensors_text(const std::vector<results::ValueInfo>& infos, const TensorsTextOptions& options = {});
// Parameters, operators, functions, quantisation: the end of the listing.
std::string summary_text(const results::ModelOverview& overview);

}  // namespace assay::report
