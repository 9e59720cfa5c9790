#include "tasks/fitted_inputs.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/shape_match.h"
#include "tensor/convert.h"

namespace assay::tasks {
namespace {

bool is_part(const std::string& a, const std::string& b) {
  return a.find(b) != std::string::npos || b.find(a) != std::string::npos;
}

// The place of the array for the input at `index`; data.size(): there is none.
size_t place_of(const exec::Port& input, size_t index, const tensor::NamedData& data) {
  const auto at = [&](auto found) { return static_cast<size_t>(found - data.begin()); };
  const size_t exact = at(std::ranges::find(data, input.name, &tensor::NamedDatum::name));
  if (exact < data.size() || input.has_default) return exact;
  const std::string name = to_lower(input.name);
  const size_t similar = at(
      std::ranges::find_if(data, [&](const tensor::NamedDatum& given) { return is_part(name, to_lower(given.name)); }));
  return similar < data.size() ? similar : std::min(index, data.size());
}

bool has_dims(const exec::PortType& type, const tensor::Shape& shape) {
  if (type.dims.size() != shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (type.dims[i].size.value_or(shape[i]) != shape[i]) return false;
  }
  return true;
}

class FittedSource final : public exec::DataSource {
 public:
  FittedSource(exec::DataSourcePtr source, exec::Signature signature, Observer& observer)
      : source_(std::move(source)), signature_(std::move(signature)), observer_(observer) {}

  std::optional<tensor::NamedData> get(uint64_t iteration) override {
    std::optional<tensor::NamedData> data = source_->get(iteration);
    return data ? std::optional(fitted(*data)) : data;
  }
  std::optional<uint64_t> count() const override { return source_->count(); }

 private:
  // The data without what no input takes.
  tensor::NamedData fitted(const tensor::NamedData& data) {
    tensor::NamedData all;
    std::vector<bool> is_taken(data.size(), false);
    for (size_t i = 0; i < signature_.inputs.size(); ++i) {
      const exec::Port& input = signature_.inputs[i];
      const size_t place = place_of(input, i, data);
      if (place == data.size()) continue;
      is_taken[place] = true;
      if (data[place].name != input.name) tell(input, fmt::format("takes `{}`", printable(data[place].name)));
      all.push_back({input.name, input.type ? fitted(input, data[place].value) : data[place].value});
    }
    for (size_t i = 0; i < data.size(); ++i) {
      if (!is_taken[i]) all.push_back(data[i]);
    }
    return all;
  }

  tensor::Datum fitted(const exec::Port& input, const tensor::Datum& value) {
    if (input.type->kind != ir::TypeKind::tensor || !value.is_tensor()) return value;
    tensor::Tensor tensor = value.tensor();
    const tensor::DType dtype = input.type->dtype;
    const auto is_number = [](tensor::DType type) {
      const tensor::DTypeKind kind = tensor::kind(type);
      return kind != tensor::DTypeKind::none && kind != tensor::DTypeKind::string && kind != tensor::DTypeKind::complex;
    };
    if (tensor.dtype() != dtype && is_number(dtype) && is_number(tensor.dtype())) {
      tell(input, fmt::format("{} is converted to {}", tensor::name(tensor.dtype()), tensor::name(dtype)));
      tensor = tensor::converted(tensor, dtype);
    }
    if (!input.type->ranked || has_dims(*input.type, tensor.shape())) return tensor;
    std::vector<int64_t> dims;
    for (const exec::PortDim& dim : input.type->dims) dims.push_back(dim.size.value_or(-1));
    const std::optional<compare::MatchedTensor> matched = compare::match_shape(tensor, dims);
    if (!matched) return tensor;
    tell(input, "it is " + matched->what);
    return matched->tensor;
  }

  void tell(const exec::Port& input, const std::string& change) {
    const std::string text = fmt::format("input `{}`: {}", printable(input.name), change);
    if (told_.insert(text).second) observer_.warning(text);
  }

  exec::DataSourcePtr source_;
  exec::Signature signature_;
  Observer& observer_;
  std::set<std::string> told_;
};

}  // namespace

exec::DataSourcePtr fitted_source(exec::DataSourcePtr source, exec::Signature signature, Observer& observer) {
  return std::make_unique<FittedSource>(std::move(source), std::move(signature), observer);
}

}  // namespace assay::tasks
