#include "cli/view/graph_section.h"

#include <variant>

#include "base/error.h"
#include "cli/environment.h"
#include "cli/view/export.h"
#include "report/html/frame.h"

namespace assay::cli {
namespace {

constexpr size_t kMostBoxes = 50'000;

std::string graph_page(const tasks::ModelSource& model, const std::string& json, const Environment& environment) {
  tasks::Observer quiet;
  tasks::View view({.model = model, .other = {}, .with = {}}, quiet);
  if (view.scene(0).items.size() > kMostBoxes) return "";
  if (!json.empty()) view.add_text(json, "this report");
  return view_page(view, environment.command_line);
}

}  // namespace

std::string with_graph(std::string html, const tasks::ModelSource& model, const std::string& json,
                       const Environment& environment) {
  if (!model.is_given() || model.path == "-") return html;
  const auto made = attempt([&] { return graph_page(model, json, environment); });
  const auto* page = std::get_if<std::string>(&made);
  return page == nullptr || page->empty() ? html : report::with_graph(std::move(html), *page);
}

}  // namespace assay::cli
