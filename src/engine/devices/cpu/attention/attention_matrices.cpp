#include "engine/devices/cpu/attention/attention_matrices.h"

namespace assay::engine::cpu {

Matrices matrices_of(int input, const TensorDesc& desc, const tensor::Shape& items) {
  Matrices matrices{.input = input, .items = {}};
  const size_t rank = desc.dims.size();
  const auto stride = [&](size_t i) { return desc.dims[i] == 1 ? 0 : desc.strides[i]; };
  for (size_t i = 0; i < items.size(); ++i) {
    const size_t missing = items.size() + 2 - rank;
    matrices.items.push_back(i < missing ? 0 : stride(i - missing));
  }
  matrices.row = rank < 2 ? 0 : stride(rank - 2);
  matrices.column = desc.strides[rank - 1];
  return matrices;
}

int64_t element_of(const Matrices& matrices, const std::vector<int64_t>& items, int64_t item) {
  int64_t element = 0;
  for (size_t i = items.size(); i-- > 0; item /= items[i]) element += item % items[i] * matrices.items[i];
  return element;
}

TensorDesc turned_back(const TensorDesc& out, const std::vector<int64_t>& order) {
  TensorDesc desc = out;
  for (size_t i = 0; i < order.size(); ++i) {
    desc.dims[static_cast<size_t>(order[i])] = out.dims[i];
    desc.strides[static_cast<size_t>(order[i])] = out.strides[i];
  }
  return desc;
}

std::byte* first_byte(const Matrices& matrices, const Arguments& arguments) {
  const std::vector<Address>& from = matrices.is_result ? arguments.outputs : arguments.inputs;
  return host<std::byte>(from[static_cast<size_t>(matrices.input)]);
}

}  // namespace assay::engine::cpu
