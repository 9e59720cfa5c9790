#pragma once

#include <memory>
#include <optional>

#include "exec/generated_inputs.h"

namespace assay::exec {

// Where the inputs of the iterations come from. An iteration may be asked for again.
class DataSource {
 public:
  virtual ~DataSource() = default;
  // The inputs of an iteration, counted from 0; nullopt after the last.
  virtual std::optional<tensor::NamedData> get(uint64_t iteration) = 0;
  // How many iterations there are, where that is known.
  virtual std::optional<uint64_t> count() const = 0;
};

using DataSourcePtr = std::unique_ptr<DataSource>;

// Made-up inputs: iteration i is drawn with the seed plus i.
DataSourcePtr generated_source(const ir::Model& model, const GenerateOptions& options, uint64_t iterations,
                               Diagnostics& findings);
// Inputs that are there already.
DataSourcePtr saved_source(std::vector<tensor::NamedData> iterations);

// What another source gives, converted to the types that the model's inputs declare. Error (usage) where values would
// be lost.
DataSourcePtr cast_source(DataSourcePtr source, const ir::Model& model);

}  // namespace assay::exec
