#include "runners/run_model.h"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"

namespace assay::cases {
namespace {

class Collector : public exec::TensorSink {
 public:
  void accept(std::string_view name, const tensor::Datum& value) override {
    values.insert_or_assign(std::string(name), value);
  }
  std::map<std::string, tensor::Datum> values;
};

}  // namespace

std::vector<std::string> output_names(const ir::Model& model) {
  std::vector<std::string> names;
  for (const ir::Use& use : model.outputs(model.main_graph())) names.emplace_back(model.text(model[use.value].name));
  return names;
}

std::vector<tensor::Datum> run_once(const exec::Session& session, const std::vector<exec::Feed>& feeds,
                                    const std::vector<std::string>& names) {
  Collector collector;
  session.make_execution({})->run(feeds, names, collector);
  std::vector<tensor::Datum> values;
  for (const std::string& name : names) {
    const auto found = collector.values.find(name);
    if (found == collector.values.end()) fail(ErrorCode::backend, "the run gave no value `{}`", name);
    values.push_back(found->second);
  }
  return values;
}

std::string current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    return error.line();
  } catch (const InternalError& error) {
    return fmt::format("a bug: {}", error.what());
  } catch (const std::exception& error) {
    return fmt::format("exception: {}", error.what());
  }
}

}  // namespace assay::cases
