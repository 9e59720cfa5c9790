#pragma once

#include <memory>
#include <optional>

#include "exec/generated_inputs.h"

namespace assay::exec {

// The source of inputs for the iterations. An iteration may be requested again.
class DataSource {
 public:
  virtual ~DataSource() = default;
  // The inputs of an iteration, counted from 0; nullopt after the last.
  virtual std::optional<tensor::NamedData> get(uint64_t iteration) = 0;
  // The number of iterations, if it is known.
  virtual std::optional<uint64_t> count() const = 0;
};

using DataSourcePtr = std::unique_ptr<DataSource>;

// Generated inputs: iteration i is drawn with the seed plus i.
DataSourcePtr generated_source(Signature signature, const GenerateOptions& options, uint64_t iterations,
                               Diagnostics& findings);
// Inputs that already exist.
DataSourcePtr saved_source(std::vector<tensor::NamedData> iterations);

// The inputs of another source, converted to the declared types. Error (usage) if values would be lost.
DataSourcePtr cast_source(DataSourcePtr source, const Signature& signature);

}  // namespace assay::exec
