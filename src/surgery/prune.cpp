#include "surgery/prune.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/edit.h"
#include "surgery/sparsity/sparsity.h"
#include "surgery/sparsity/zero.h"
#include "surgery/sparsity/zero_smallest.h"

namespace assay::surgery {
namespace {

using tensor::Tensor;

bool is_same(const Tensor& a, const Tensor& b) { return std::ranges::equal(a.bytes(), b.bytes()); }

}  // namespace

Tensor pruned(const Tensor& tensor, int64_t axis) {
  const tensor::Bytes from = tensor.bytes();
  std::vector<std::byte> to(*tensor::packed_bytes(tensor.dtype(), tensor.count()));
  zero_smallest(from, ops::view_axis(tensor.shape(), axis), tensor::bit_width(tensor.dtype()) / 8, to);
  return Tensor(tensor.dtype(), tensor.shape(), tensor::make_owned(std::move(to)));
}

std::vector<PrunedWeight> prune(ir::Model& model, std::vector<results::SkippedWeight>& skipped) {
  ir::Edit edit(model);
  std::vector<PrunedWeight> done;
  for (const SparsityCandidate& candidate : eligible_weights(model, skipped)) {
    const Tensor before = model[candidate.tensor].tensor;
    if (!has_zero(before.dtype(), false)) {
      skipped.push_back({candidate.name, fmt::format("due to unsupported type: {}", name(before.dtype())), true});
      continue;
    }
    const Tensor after = with_frame([&] { return fmt::format("weight `{}`", printable(candidate.name)); },
                                    [&] { return pruned(before, candidate.axis); });
    const bool was_sparse = is_same(before, after);
    if (!was_sparse) edit.set_tensor(candidate.tensor, after);
    done.push_back({candidate.name, candidate.axis, was_sparse});
  }
  return done;
}

}  // namespace assay::surgery
