// Arbitrary bytes imported as a model: only Error may come out of it. A model that loads is written again byte for
// byte; after random edits it is still sound, can be written, and loads again as the same graph with the same findings.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <set>
#include <string>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "ir/edit.h"
#include "ir/verify.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "support/fuzzing.h"

namespace {

using namespace assay;
using namespace testing_support;

std::string folder() { return fmt::format("/proc/{}/fd/", getpid()); }

ir::Model import_bytes(Bytes bytes, Diagnostics& findings) {
  onnx::ImportOptions options;
  options.ignore_external_data = true;
  const onnx::Document document(MappedFile::from_bytes(bytes, folder() + "source"));
  ir::Model model = onnx::import_document(document, options, findings);
  ir::check_structure(model);
  return model;
}

std::vector<std::byte> saved(const ir::Model& model) {
  static const int fd = memfd_create("model", 0);
  require(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0, "memory file");
  onnx::save(model, folder() + std::to_string(fd));
  std::vector<std::byte> bytes(static_cast<size_t>(lseek(fd, 0, SEEK_END)));
  require(pread(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()), "memory file");
  return bytes;
}

class Edits {
 public:
  Edits(ir::Model& model, uint32_t seed) : model_(model), edit_(model), random_(seed) {}

  void run() {
    for (uint32_t i = random_() % 8 + 1; i > 0; --i) one();
  }

 private:
  void one() {
    const ir::NodeId node = random_node();
    const ir::ValueId value = random_value();
    switch (random_() % 8) {
      case 0:
        return erase(node);
      case 1:
        return insert_identity(value);
      case 2:
        return change_attribute(node);
      case 3:
        return move(node);
      case 4:
        return rename(value);
      case 5:
        return node ? edit_.rename(node, fresh()) : void();
      case 6:
        return value ? edit_.set_type(value, model_.types().unranked_tensor(tensor::DType::int8)) : void();
      default:
        edit_.header().doc = fresh();
    }
  }
  std::string fresh() { return fmt::format("fresh_{}", next_++); }
  ir::NodeId random_node() {
    const ir::NodeId id{static_cast<uint32_t>(random_() % model_.node_slots())};
    return model_[id].alive && !model_[id].is_outputs ? id : ir::NodeId{};
  }
  ir::ValueId random_value() {
    if (model_.value_slots() == 0) return {};
    const ir::ValueId id{static_cast<uint32_t>(random_() % model_.value_slots())};
    return model_[id].alive && model_[id].name != ir::kEmpty ? id : ir::ValueId{};
  }
  void erase(ir::NodeId node) {
    if (!node) return;
    for (const ir::ValueId result : model_[node].results) {
      if (result && model_[result].first_use) return;
    }
    edit_.erase(node);
  }
  void insert_identity(ir::ValueId value) {
    if (!value || !model_[value].first_use) return;
    const ir::GraphId graph = model_[value].graph;
    ir::NodeSpec spec;
    spec.op = edit_.intern("Identity");
    const ir::Symbol results[] = {edit_.intern(fresh())};
    spec.results = results;
    const ir::NodeId producer = model_[value].producer;
    const ir::NodeId made = edit_.add_node(graph, spec, producer ? model_[producer].next : model_[graph].first);
    edit_.replace_uses(value, model_[made].results[0]);
    edit_.set_operands(made, std::span<const ir::ValueId>(&value, 1));
  }
  void change_attribute(ir::NodeId node) {
    if (!node) return;
    const std::span<const ir::Attribute> attributes = model_[node].attributes;
    const ir::Symbol name = attributes.empty() ? edit_.intern("a") : attributes[random_() % attributes.size()].name();
    random_() % 4 == 0 ? edit_.remove_attribute(node, name)
                       : edit_.set_attribute(node, ir::Attribute::of(name, int64_t{7}));
  }
  void move(ir::NodeId node) {
    const ir::NodeId before = random_node();
    if (node && before && model_[node].graph == model_[before].graph) edit_.move_before(node, before);
  }
  void rename(ir::ValueId value) {
    if (value) edit_.rename(value, edit_.intern(fresh()));
  }

  ir::Model& model_;
  ir::Edit edit_;
  std::mt19937 random_;
  int next_ = 0;
};

struct Counts {
  size_t graphs = 0, nodes = 0, operands = 0, inputs = 0, initializers = 0;
  auto operator<=>(const Counts&) const = default;
};

void count_graph(const ir::Model& model, ir::GraphId id, Counts& counts) {
  std::vector<ir::GraphId> pending = {id};
  while (!pending.empty()) {
    const ir::GraphId graph = pending.back();
    pending.pop_back();
    ++counts.graphs;
    counts.inputs += model[graph].inputs.size();
    counts.initializers += model[graph].initializers.size();
    for (const ir::NodeId node : ir::nodes(model, graph)) {
      ++counts.nodes;
      counts.operands += model[node].operands.size();
      for (const ir::GraphId body : model.bodies(model[node])) pending.push_back(body);
    }
  }
}

Counts count(const ir::Model& model) {
  Counts counts;
  count_graph(model, model.main_graph(), counts);
  for (const ir::Function& function : model.functions()) count_graph(model, function.body, counts);
  return counts;
}

std::set<std::string_view> codes(const Diagnostics& findings) {
  std::set<std::string_view> result;
  for (const Diagnostic& finding : findings.all()) result.insert(finding.code);
  return result;
}

void print(const Diagnostics& findings) {
  for (const Diagnostic& finding : findings.all()) {
    std::fprintf(stderr, "%s: %s\n", std::string(finding.code).c_str(), finding.message.c_str());
  }
  std::fprintf(stderr, "%zu findings\n", findings.all().size());
}

// Names that mean two things may mean the other one after an edit.
bool has_clear_names(const Diagnostics& findings) {
  const std::set<std::string_view> all = codes(findings);
  return findings.dropped() == 0 && !all.contains("duplicate_name") && !all.contains("shadowed_name");
}

void check_edits(ir::Model& model, const Diagnostics& original, uint32_t seed) {
  Edits(model, seed).run();
  ir::check_structure(model);
  Diagnostics before(100'000), after(100'000);
  ir::verify(model, before);
  const std::vector<std::byte> bytes = saved(model);
  const ir::Model again = import_bytes(bytes, after);  // an Error is a failure
  require(count(again) == count(model), "the same graph");
  std::set<std::string_view> seen = codes(after);
  if (codes(original).contains("type_conflict")) seen.erase("type_conflict");  // only reading the file shows it
  const bool same = seen == codes(before) || !has_clear_names(before) || !has_clear_names(original);
  if (!same) print(before), print(after);
  require(same, "the same findings");
}

std::optional<ir::Model> import_or_refuse(Bytes bytes, Diagnostics& findings) {
  try {
    return import_bytes(bytes, findings);
  } catch (const Error& error) {
    const std::string line = error.line();
    require(!line.empty() && line.find_first_of("\n\r") == std::string::npos, "one line");
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  Diagnostics findings;
  std::optional<ir::Model> model = import_or_refuse(bytes, findings);
  if (!model) return 0;
  const std::vector<std::byte> same = saved(*model);
  require(same.size() == size && std::memcmp(same.data(), data, size) == 0, "the same bytes");
  check_edits(*model, findings, seed_of(bytes));
  return 0;
}
