#include "engine/plan/plan_models.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>

#include "base/checksum.h"
#include "base/error.h"
#include "base/text.h"
#include "ir/edit.h"
#include "onnx/document.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "onnx/known_operators.h"
#include "tensor/derived.h"

namespace assay::engine {
namespace {

constexpr uint64_t kSmallBytes = 1024;  // of tensors that generated inputs and types may depend on

void require_valid(const Diagnostics& findings) {
  for (const Diagnostic& finding : findings.all()) {
    if (finding.severity == Severity::error) {
      fail(ErrorCode::parse, "the plan holds a model that cannot be run: {}", finding.message);
    }
  }
}

std::unordered_map<std::string_view, ir::ValueId> initializers_of(const ir::Model& model) {
  std::unordered_map<std::string_view, ir::ValueId> found;
  for (const ir::ValueId value : model[model.main_graph()].initializers) {
    if (!model[model[value].constant].sparse) found.emplace(model.text(model[value].name), value);
  }
  return found;
}

// Compares the bytes; made ones are released again.
bool are_equal(const tensor::Storage& a, const tensor::Storage& b) {
  bool is_equal = a.size_bytes() == b.size_bytes();
  uint64_t at = 0;
  if (!is_equal) return false;
  a.stream([&](Bytes piece) {
    uint64_t other_at = 0;
    b.stream([&](Bytes other) {
      const uint64_t begin = std::max(at, other_at);
      const uint64_t end = std::min(at + piece.size(), other_at + other.size());
      if (begin < end)
        is_equal =
            is_equal && std::memcmp(piece.data() + (begin - at), other.data() + (begin - other_at), end - begin) == 0;
      other_at += other.size();
    });
    at += piece.size();
  });
  return is_equal;
}

}  // namespace

ir::Model read_model(const PlanFile& plan, uint64_t number, std::span<const PlacedWeights> weights) {
  Diagnostics findings;
  const Bytes bytes = plan.section(SectionKind::model, number);
  const onnx::Document document(MappedFile::from_bytes(bytes, plan.path().string()));
  ir::Model model = onnx::import_document(document, {.external_folder = {}, .ignore_external_data = true}, findings);
  onnx::check_operators(model, findings);
  require_valid(findings);
  const std::unordered_map<std::string_view, ir::ValueId> initializers = initializers_of(model);
  ir::Edit edit(model);
  for (const PlacedWeights& placed : weights) {
    const auto value = initializers.find(placed.name);
    if (value == initializers.end()) {
      fail(ErrorCode::parse, "the plan is damaged: its model has no `{}`", printable(placed.name));
    }
    const ir::TensorId id = model[value->second].constant;
    const tensor::Tensor declared = model[id].tensor;
    tensor::StoragePtr storage = plan.storage(SectionKind::weights, placed.section);
    if (tensor::packed_bytes(declared.dtype(), declared.count()) != storage->size_bytes()) {
      fail(ErrorCode::parse, "the plan is damaged: `{}` has another size", printable(placed.name));
    }
    edit.set_tensor(id, tensor::Tensor(declared.dtype(), declared.shape(), std::move(storage)));
  }
  return model;
}

std::vector<PlacedWeights> PlanSections::add_model(const ir::Model& model, bool with_weights) {
  onnx::EncodedModel encoded = onnx::encode(model, {.detach_above_bytes = with_weights ? 0 : kSmallBytes});
  models_.push_back(tensor::make_owned(std::move(encoded.bytes)));
  std::vector<PlacedWeights> placed;
  std::set<std::string_view> outputs;
  for (const ir::Use& use : model.outputs(model.main_graph())) {
    if (use.value.valid()) outputs.insert(model.text(model[use.value].name));
  }
  for (const tensor::NamedDatum& detached : encoded.detached) {
    if (!with_weights && !outputs.contains(detached.name)) continue;
    placed.push_back({detached.name, place_weights(detached.value.tensor().storage())});
  }
  return placed;
}

std::optional<uint64_t> PlanSections::find(const tensor::Storage& storage) const {
  const auto known = by_identity_.find(tensor::identity_of(storage));
  const bool is_it = known != by_identity_.end() && known->second.storage->size_bytes() == storage.size_bytes();
  return is_it ? std::optional(known->second.number) : std::nullopt;
}

std::optional<uint64_t> PlanSections::find_equal(const tensor::Storage& storage, uint64_t sum) const {
  const auto [first, last] = by_checksum_.equal_range(sum);
  const auto known =
      std::find_if(first, last, [&](const auto& entry) { return are_equal(*weights_[entry.second], storage); });
  return known == last ? std::nullopt : std::optional(known->second);
}

void PlanSections::note(const tensor::StoragePtr& storage, uint64_t sum, uint64_t number) {
  by_identity_.try_emplace(tensor::identity_of(*storage), Known{storage, number});
  if (number < weights_.size()) return;
  weights_.push_back(storage);
  by_checksum_.emplace(sum, number);
}

void PlanSections::add_weights(const tensor::Tensor& weights) {
  const tensor::StoragePtr& storage = weights.storage();
  if (find(*storage)) return;
  const uint64_t sum = section_checksum(storage->bytes());
  const std::optional<uint64_t> known = find_equal(*storage, sum);
  note(storage, sum, known ? *known : file_.add(SectionKind::weights, storage->bytes(), sum));
}

// Places the weights in a section, and releases them.
uint64_t PlanSections::place_weights(const tensor::StoragePtr& storage) {
  if (const std::optional<uint64_t> known = find(*storage)) return *known;
  tensor::make_now(*storage);
  const uint64_t sum = checksum_of(*storage);
  const std::optional<uint64_t> known = find_equal(*storage, sum);
  const uint64_t number = known ? *known : file_.add(SectionKind::weights, storage, sum);
  note(storage, sum, number);
  if (known) tensor::let_go_of(*storage);
  return number;
}

void PlanSections::add_packed(const void* weights, const std::string& form, Bytes bytes) {
  file_.add(SectionKind::packed, bytes);
  packed_.push_back({weights, form});
}

void PlanSections::finish(Manifest manifest) {
  std::set<std::pair<uint64_t, std::string_view>> told;
  for (size_t i = 0; i < packed_.size(); ++i) {
    const auto weights = by_identity_.find(packed_[i].weights);
    if (weights == by_identity_.end()) continue;
    const uint64_t number = weights->second.number;
    if (!told.emplace(number, packed_[i].form).second) continue;
    manifest.packed.push_back({.weights = number, .form = packed_[i].form, .section = i});
  }
  manifest.code = code_;
  for (const tensor::StoragePtr& model : models_) file_.add(SectionKind::model, model);
  const std::vector<std::byte> written = write_manifest(manifest);
  file_.add(SectionKind::manifest, written);
  file_.finish();
}

}  // namespace assay::engine
