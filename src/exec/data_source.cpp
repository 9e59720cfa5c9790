#include "exec/data_source.h"

#include <map>

#include "base/error.h"
#include "base/text.h"
#include "tensor/convert.h"

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
  std::optional<uint64_t> count() const override { return iterations_; }

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
  std::optional<uint64_t> count() const override { return iterations_.size(); }

 private:
  std::vector<tensor::NamedData> iterations_;
};

class CastSource final : public DataSource {
 public:
  CastSource(DataSourcePtr source, const ir::Model& model) : source_(std::move(source)) {
    for (const ir::ValueId input : model[model.main_graph()].inputs) {
      const ir::TypeId type = model[input].type;
      if (!type.valid() || model[type].kind != ir::TypeKind::tensor) continue;
      if (tensor::is_known(model[type].dtype)) dtypes_.emplace(model.text(model[input].name), model[type].dtype);
    }
  }

  std::optional<tensor::NamedData> get(uint64_t iteration) override {
    std::optional<tensor::NamedData> data = source_->get(iteration);
    if (!data) return data;
    for (tensor::NamedDatum& input : *data) {
      const auto dtype = dtypes_.find(input.name);
      if (dtype != dtypes_.end() && input.value.is_tensor()) input.value = cast(input, dtype->second);
    }
    return data;
  }
  std::optional<uint64_t> count() const override { return source_->count(); }

 private:
  static tensor::Datum cast(const tensor::NamedDatum& input, tensor::DType dtype) {
    const tensor::Tensor& from = input.value.tensor();
    if (input.value.declared() == dtype) return input.value;
    return with_frame([&] { return "input `" + printable(input.name) + "`"; },
                      [&] {
                        if (!tensor::converts_safely(from, dtype)) {
                          fail(ErrorCode::usage, "its values of {} do not all fit into {}", tensor::name(from.dtype()),
                               tensor::name(dtype));
                        }
                        return tensor::Datum(tensor::converted(from, dtype));
                      });
  }

  DataSourcePtr source_;
  std::map<std::string, tensor::DType, std::less<>> dtypes_;
};

}  // namespace

DataSourcePtr cast_source(DataSourcePtr source, const ir::Model& model) {
  return std::make_unique<CastSource>(std::move(source), model);
}

DataSourcePtr generated_source(const ir::Model& model, const GenerateOptions& options, uint64_t iterations,
                               Diagnostics& findings) {
  return std::make_unique<GeneratedSource>(model, options, iterations, findings);
}

DataSourcePtr saved_source(std::vector<tensor::NamedData> iterations) {
  return std::make_unique<SavedSource>(std::move(iterations));
}

}  // namespace assay::exec
