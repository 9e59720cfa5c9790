#include "engine/devices/cpu/attention/attention_matrices.h"

namespace assay::engine::cpu {

std::byte* first_byte(const Matrices& matrices, const Arguments& arguments) {
  const std::vector<Address>& from = matrices.is_result ? arguments.outputs : arguments.inputs;
  return host<std::byte>(from[static_cast<size_t>(matrices.input)]);
}

}  // namespace assay::engine::cpu
