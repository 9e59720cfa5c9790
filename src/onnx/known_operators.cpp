#include "onnx/known_operators.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "schema/schema.h"

namespace assay::onnx {
namespace {

// One kind of operator that the model uses.
struct Usage {
  ir::NodeId example;
  uint64_t count = 0;
};

using Usages = std::map<std::pair<ir::Symbol, ir::Symbol>, Usage>;  // by domain and operator

Usages count_operators(const ir::Model& model) {
  Usages usages;
  for (const ir::NodeId id : ir::live_nodes(model)) {
    const ir::Node& node = model[id];
    Usage& usage = usages[{node.domain, node.op}];
    if (usage.count++ == 0) usage.example = id;
  }
  return usages;
}

// Operators that the model itself brings: looked up for every kind of operator.
struct Declared {
  std::set<std::pair<ir::Symbol, ir::Symbol>> functions;  // domain and name
  std::set<std::string_view> imported_domains;            // by the model or any function
};

Declared collect_declared(const ir::Model& model) {
  Declared declared;
  const auto add_imports = [&](const std::vector<ir::OpsetImport>& imports) {
    for (const ir::OpsetImport& opset : imports)
      declared.imported_domains.insert(schema::canonical_domain(model.text(opset.domain)));
  };
  add_imports(model.header().opset_imports);
  for (const ir::Function& function : model.functions()) {
    declared.functions.emplace(function.domain, function.name);
    add_imports(function.opset_imports);
  }
  return declared;
}

void check_versions(const ir::Model& model, Diagnostics& diagnostics) {
  const int64_t newest_ir = schema::newest_ir_version();
  if (model.header().ir_version > newest_ir) {
    diagnostics.warn("newer_ir_version", "",
                     fmt::format("the model has IR version {}, the newest that is known here is {}",
                                 model.header().ir_version, newest_ir));
  }
  for (const ir::OpsetImport& opset : model.header().opset_imports) {
    const std::string_view name = schema::canonical_domain(model.text(opset.domain));
    const std::optional<int64_t> newest = schema::newest_version(name);
    if (!newest || opset.version <= *newest) continue;
    diagnostics.warn("newer_opset", "",
                     fmt::format("the model needs version {} of domain `{}`, the newest that is known here is {}",
                                 opset.version, name.empty() ? "ai.onnx" : name, *newest));
  }
}

// TensorRT's operator of sharded models, which ranks run.
bool is_collective(std::string_view domain, std::string_view op) { return domain.empty() && op == "DistCollective"; }

void check_usage(const ir::Model& model, const Declared& declared, const Usages::value_type& entry,
                 Diagnostics& diagnostics) {
  const auto& [key, usage] = entry;
  const std::string_view domain = schema::canonical_domain(model.text(key.first));
  if (declared.functions.contains(key)) return;
  const std::string node(model[usage.example].name);
  const std::string op = printable(model.text(key.second));
  const bool open = domain.starts_with("com.microsoft");  // has operators that are not listed
  const bool listed = schema::newest_version(domain).has_value();
  if (listed && !open && !schema::is_known_operator(domain, model.text(key.second))) {
    const Severity severity = is_collective(domain, op) ? Severity::warning : Severity::error;
    diagnostics.add(
        {severity, "unknown_operator", node,
         fmt::format("domain `{}` has no operator `{}`: {} node(s), the first is {}",
                     domain.empty() ? "ai.onnx" : domain, op, usage.count, ir::describe(model, usage.example))});
  }
  if (!listed && !open) {
    diagnostics.warn("unknown_domain", node,
                     fmt::format("domain `{}` is not ONNX's: what `{}` means is not known ({} node(s))",
                                 printable(domain), op, usage.count));
  }
  const bool needs_import = model.header().ir_version >= 3;
  if (needs_import && !declared.imported_domains.contains(domain)) {
    diagnostics.error("no_opset_import", node,
                      fmt::format("{} is of domain `{}`, which no opset_import names",
                                  ir::describe(model, usage.example), domain.empty() ? "ai.onnx" : printable(domain)));
  }
}

}  // namespace

void check_operators(const ir::Model& model, Diagnostics& diagnostics) {
  check_versions(model, diagnostics);
  const Declared declared = collect_declared(model);
  for (const Usages::value_type& entry : count_operators(model)) check_usage(model, declared, entry, diagnostics);
}

}  // namespace assay::onnx
