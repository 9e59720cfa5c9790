#include "exec/data_source.h"

#include <map>

#include "base/error.h"
#include "base/text.h"
#include "tensor/convert.h"

namespace assay::exec {
namespace {

class GeneratedSource final : public DataSource {
 public:
  GeneratedSource(Signature signature, const GenerateOptions& options, uint64_t iterations, Diagnostics& findings)
      : signature_(std::move(signature)), options_(options), iterations_(iterations), findings_(findings) {}

  std::optional<tensor::NamedData> get(uint64_t iteration) override {
    if (iteration >= iterations_) return std::nullopt;
    if (last_ && iteration == last_iteration_) return last_;
    GenerateOptions options = options_;
    options.seed += iteration;
    Diagnostics repeated;
    last_ = generate_inputs(signature_, options, said_ ? repeated : findings_);
    last_iteration_ = iteration;
    said_ = true;
    return last_;
  }
  std::optional<uint64_t> count() const override { return iterations_; }

 private:
  Signature signature_;
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
  CastSource(DataSourcePtr source, const Signature& signature) : source_(std::move(source)) {
    for (const Port& input : signature.inputs) {
      if (!input.type || input.type->kind != ir::TypeKind::tensor) continue;
      if (tensor::is_known(input.type->dtype)) dtypes_.emplace(input.name, input.type->dtype);
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

DataSourcePtr cast_source(DataSourcePtr source, const Signature& signature) {
  return std::make_unique<CastSource>(std::move(source), signature);
}

DataSourcePtr generated_source(Signature signature, const GenerateOptions& options, uint64_t iterations,
                               Diagnostics& findings) {
  return std::make_unique<GeneratedSource>(std::move(signature), options, iterations, findings);
}

DataSourcePtr saved_source(std::vector<tensor::NamedData> iterations) {
  return std::make_unique<SavedSource>(std::move(iterations));
}

}  // namespace assay::exec
