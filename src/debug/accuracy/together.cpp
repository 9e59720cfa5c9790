#include "debug/accuracy/together.h"

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "tensor/casts.h"

namespace assay::debug {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

bool has_constant_weights(const ir::Model& model, const ir::Node& node) {
  const std::string_view op = model.text(node.op);
  if (op != "Conv" && op != "MatMul") return false;
  const bool is_live = node.operands[0].value && !model[node.operands[0].value].constant;
  return is_live && std::ranges::all_of(node.operands.subspan(1),
                                        [&](const ir::Use& use) { return !use.value || model[use.value].constant; });
}

bool are_alike(const std::vector<Datum>& data) {
  return std::ranges::all_of(data, [&](const Datum& datum) {
    return is_numeric(datum) && datum.tensor().shape() == data[0].tensor().shape() &&
           datum.declared() == data[0].declared();
  });
}

Datum stacked(const std::vector<Datum>& data) {
  const uint64_t count = data[0].tensor().count();
  std::vector<std::byte> bytes(data.size() * count * sizeof(double));
  auto* const to = reinterpret_cast<double*>(bytes.data());
  parallel_for(data.size(), 1, [&](uint64_t i, uint64_t) {
    const Tensor& tensor = data[i].tensor();
    tensor::load(tensor.dtype(), tensor.bytes(), 0, std::span(to + i * count, count));
  });
  Shape shape = data[0].tensor().shape();
  shape[0] *= static_cast<int64_t>(data.size());
  return {Tensor(DType::float64, std::move(shape), tensor::make_owned(std::move(bytes))), data[0].declared()};
}

std::vector<Datum> parted(const Datum& all, size_t count) {
  Shape shape = all.tensor().shape();
  shape[0] /= static_cast<int64_t>(count);
  const tensor::Bytes bytes = all.tensor().bytes();
  const size_t size = bytes.size() / count;
  std::vector<Datum> parts(count);
  parallel_for(count, 1, [&](uint64_t i, uint64_t) {
    const tensor::Bytes part = bytes.subspan(i * size, size);
    parts[i] =
        Datum(Tensor(all.tensor().dtype(), shape, tensor::make_owned({part.begin(), part.end()})), all.declared());
  });
  return parts;
}

}  // namespace

std::optional<std::vector<Datum>> products_together(const ir::Model& model, ir::NodeId node,
                                                    std::span<const OperandSource> operands, LayerOracle& oracle) {
  if (!has_constant_weights(model, model[node])) return std::nullopt;
  const ir::ValueId first = model[node].operands[0].value;
  std::vector<Datum> data;
  for (const OperandSource& source : operands) data.push_back(source(first));
  const bool is_floating = are_alike(data) && tensor::is_floating(data[0].declared());
  const bool has_rows = is_floating && data[0].tensor().shape().size() > 1 && data[0].tensor().count() > 0;
  const Datum weights = operands[0](model[node].operands[1].value);
  if (!has_rows || (model.text(model[node].op) == "MatMul" && weights.tensor().shape().size() != 2))
    return std::nullopt;
  const Datum all = stacked(data);
  const std::variant<Datum, Error> product = attempt([&] {
    return oracle.exact(node, [&](ir::ValueId value) { return value == first ? all : operands[0](value); })[0];
  });
  const Datum* const made = std::get_if<Datum>(&product);
  return made == nullptr ? std::nullopt : std::optional(parted(*made, data.size()));
}

}  // namespace assay::debug
