#include "exec/data_source.h"

namespace assay::exec {
namespace {

class GeneratedSource final : public DataSource {
 public:
  GeneratedSource(const ir::Model& model, const GenerateOptions& options, uint64_t iterations, Diagnostics& findings)
      : model_(model), options_(options), iterations_(iterations), findings_(findings) {}

  std::optional<tensor::NamedData> get(uint64_t iteration) override {
    if (iteration >= iterations_) return std::nullopt;
    if (last_ && iteration == last_iteration_) return last_;
    GenerateOptions options = options_;
    options.seed += iteration;
    Diagnostics repeated;
    last_ = generate_inputs(model_, options, said_ ? repeated : findings_);
    last_iteration_ = iteration;
    said_ = true;
    return last_;
  }

 private:
  const ir::Model& model_;
  GenerateOptions options_;
  uint64_t iterations_;
  Diagnostics& findings_;
  std::optional<tensor::NamedData> last_;
  uint64_t last_iteration_ = 0;
  bool said_ = false;
};

class SavedSource final : public DataSource {
 public:
  explicit SavedSource(std::vector<tensor::NamedData> iterations) : iterations_(std::move(iterations)) {}

  std::optional<tensor::NamedData> get(uint64_t iteration) override {
    if (iteration >= iterations_.size()) return std::nullopt;
    return iterations_[iteration];
  }

 private:
  std::vector<tensor::NamedData> iterations_;
};

}  // namespace

DataSourcePtr generated_source(const ir::Model& model, const GenerateOptions& options, uint64_t iterations,
                               Diagnostics& findings) {
  return std::make_unique<GeneratedSource>(model, options, iterations, findings);
}

DataSourcePtr saved_source(std::vector<tensor::NamedData> iterations) {
  return std::make_unique<SavedSource>(std::move(iterations));
}

}  // namespace assay::exec
