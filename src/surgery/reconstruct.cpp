#include "surgery/reconstruct.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/numpy_random.h"
#include "base/parallel.h"
#include "base/text.h"
#include "ir/edit.h"
#include "surgery/prune.h"
#include "surgery/sparsity/sparsity.h"
#include "surgery/sparsity/zero.h"
#include "tensor/casts.h"

namespace assay::surgery {
namespace {

using ir::TensorId;
using ir::ValueId;
using tensor::Tensor;

// The initializers without elements, in the order of the file.
std::vector<ValueId> stripped_values(const ir::Model& model) {
  std::vector<ValueId> values;
  for (uint32_t i = 0; i < model.graph_slots(); ++i) {
    for (const ValueId id : model[ir::GraphId{i}].initializers) {
      if (model[id].alive && model[model[id].constant].stripped) values.push_back(id);
    }
  }
  return values;
}

std::string name_of(const ir::Model& model, ValueId value) { return std::string(model.text(model[value].name)); }

// Streams of their own for pieces of a fixed size, so that the numbers do not depend on the number of threads.
class NormalNumbers {
 public:
  explicit NormalNumbers(uint64_t seed) : seed_(seed) {}

  Tensor make(const Tensor& like, uint64_t place) const {
    std::vector<std::byte> bytes(like.size_bytes());
    parallel_for(like.count(), kPiece, [&](uint64_t begin, uint64_t end) {
      NumpyRandom random(stream_seed(place, begin / kPiece));
      std::vector<double> numbers(end - begin);
      for (double& number : numbers) number = random.normal();
      store(like.dtype(), numbers, begin, bytes);
    });
    return Tensor(like.dtype(), like.shape(), tensor::make_owned(std::move(bytes)));
  }

 private:
  static constexpr uint64_t kPiece = 1 << 14;

  static void store(tensor::DType dtype, std::span<const double> numbers, uint64_t first, std::span<std::byte> bytes) {
    if (tensor::kind(dtype) != tensor::DTypeKind::complex) return tensor::store(dtype, numbers, first, bytes);
    const std::vector<std::complex<double>> values(numbers.begin(), numbers.end());
    tensor::store_complex(dtype, values, first, bytes);
  }

  // Every bit of the three numbers decides about every bit of the seed.
  uint32_t stream_seed(uint64_t place, uint64_t piece) const {
    uint64_t hash = seed_;
    for (const uint64_t part : {place, piece}) {
      hash = (hash ^ part) * 0x9E3779B97F4A7C15ULL;
      hash = (hash ^ (hash >> 29)) * 0xBF58476D1CE4E5B9ULL;
      hash ^= hash >> 32;
    }
    return static_cast<uint32_t>(hash);
  }

  uint64_t seed_;
};

void check_memory(const ir::Model& model, std::span<const ValueId> values) {
  uint64_t left = available_memory_bytes();
  for (const ValueId id : values) {
    const uint64_t size = model[model[id].constant].tensor.size_bytes();
    if (size > left) {
      fail(ErrorCode::limit, "the weights do not fit into memory: `{}` alone takes {}", printable(name_of(model, id)),
           human_bytes(size));
    }
    left -= size;
  }
}

std::map<TensorId, std::vector<int64_t>> summed_axes(const ir::Model& model) {
  std::map<TensorId, std::vector<int64_t>> axes;
  std::vector<results::SkippedWeight> skipped;
  for (const SparsityCandidate& candidate : eligible_weights(model, skipped)) {
    axes[candidate.tensor].push_back(candidate.axis);
  }
  return axes;
}

void unmark_model(ir::Edit& edit, const ir::Model& model) {
  std::string doc = model.header().doc;
  const size_t at = doc.find(ir::kWeightless);
  if (at == std::string::npos) return;
  const size_t begin = at > 0 && doc[at - 1] == '-' ? at - 1 : at;
  doc.erase(begin, at + ir::kWeightless.size() - begin);
  edit.header().doc = doc;
}

// Weights of another model, by graph and name.
class FullModel {
 public:
  explicit FullModel(const ir::Model& model) : model_(model) {
    for (uint32_t i = 0; i < model.graph_slots(); ++i) {
      for (const ValueId id : model[ir::GraphId{i}].initializers) {
        tensors_.emplace(std::pair(i, model.text(model[id].name)), model[id].constant);
      }
    }
  }

  const ir::TensorEntry& find(uint32_t graph, std::string_view name, const Tensor& like) const {
    const auto found = tensors_.find({graph, name});
    if (found == tensors_.end()) fail(ErrorCode::usage, "the other model has no weight `{}`", printable(name));
    const ir::TensorEntry& entry = model_[found->second];
    if (entry.stripped) fail(ErrorCode::usage, "`{}` was stripped in the other model too", printable(name));
    const bool fits = !entry.sparse && entry.tensor.dtype() == like.dtype() && entry.tensor.shape() == like.shape();
    if (fits) return entry;
    fail(ErrorCode::usage, "`{}` is {} in the other model, expected {}", printable(name), text_of(entry.tensor),
         text_of(like));
  }

 private:
  static std::string text_of(const Tensor& tensor) {
    return fmt::format("{}[{}]", tensor::name(tensor.dtype()), fmt::join(tensor.shape(), ", "));
  }

  const ir::Model& model_;
  std::map<std::pair<uint32_t, std::string_view>, TensorId> tensors_;
};

}  // namespace

std::vector<std::string> reconstruct(ir::Model& model, uint64_t seed) {
  const std::vector<ValueId> values = stripped_values(model);
  check_memory(model, values);
  const std::map<TensorId, std::vector<int64_t>> axes = summed_axes(model);
  const NormalNumbers numbers(seed);
  ir::Edit edit(model);
  std::vector<std::string> names;
  for (const ValueId id : values) {
    const TensorId tensor = model[id].constant;
    Tensor made = numbers.make(model[tensor].tensor, names.size());
    const bool is_sparse =
        model[tensor].doc.find("SPARSE_2_4") != std::string_view::npos && has_zero(made.dtype(), false);
    if (is_sparse && axes.contains(tensor)) {
      for (const int64_t axis : axes.at(tensor)) made = pruned(made, axis);
    }
    edit.set_tensor(tensor, std::move(made));
    edit.set_doc(tensor, "");
    names.push_back(name_of(model, id));
  }
  if (!names.empty()) unmark_model(edit, model);
  return names;
}

std::vector<std::string> reconstruct(ir::Model& model, const ir::Model& full) {
  const FullModel weights(full);
  ir::Edit edit(model);
  std::vector<std::string> names;
  for (const ValueId id : stripped_values(model)) {
    const TensorId tensor = model[id].constant;
    const ir::TensorEntry& entry =
        weights.find(model[id].graph.index, model.text(model[id].name), model[tensor].tensor);
    edit.set_tensor(tensor, entry.tensor);
    edit.set_doc(tensor, entry.doc);
    names.push_back(name_of(model, id));
  }
  if (!names.empty()) unmark_model(edit, model);
  return names;
}

}  // namespace assay::surgery
