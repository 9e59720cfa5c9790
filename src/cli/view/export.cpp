#include "cli/view/export.h"

#include "base/json.h"
#include "report/view/containers.h"
#include "report/view/json_view.h"
#include "report/view/page.h"

namespace assay::cli {
namespace {

constexpr auto kNumbers = report::Container::Numbers::packable;
constexpr size_t kMostNodes = 20'000;           // with all facts
constexpr size_t kMostStatistics = 500;         // weights
constexpr uint64_t kMostElements = 20'000'000;  // of theirs that are read

std::string nodes_document(const tasks::View& view, size_t scene) {
  JsonWriter json;
  json.begin_object();
  const results::SceneItems& items = view.scene(scene).items;
  for (uint32_t item = 0; item < items.size(); ++item) {
    if (items.kinds[item] != static_cast<uint8_t>(results::ItemKind::node)) continue;
    json.key(std::to_string(item));
    json.document(report::node_json(view.node(scene, item)));
  }
  json.end_object();
  return json.text();
}

// Statistics of the constants of nodes, those first that run first.
std::string statistics_document(const tasks::View& view, size_t scene) {
  JsonWriter json;
  json.begin_object();
  const results::SceneItems& items = view.scene(scene).items;
  uint64_t elements = 0;
  size_t count = 0;
  std::vector<bool> is_done;
  for (uint32_t item = 0; item < items.size(); ++item) {
    if ((items.flags[item] & results::kHasConstants) == 0) continue;
    if (elements + static_cast<uint64_t>(items.params[item]) > kMostElements || count > kMostStatistics) continue;
    elements += static_cast<uint64_t>(items.params[item]);
    for (const results::NodePort& port : view.node(scene, item).inputs) {
      if (!port.is_constant) continue;
      if (port.value >= is_done.size()) is_done.resize(port.value + 1, false);
      if (is_done[port.value]) continue;
      is_done[port.value] = true;
      ++count;
      json.key(std::to_string(port.value));
      json.document(report::value_json(view.value(scene, port.value)));
    }
  }
  json.end_object();
  return json.text();
}

}  // namespace

std::string view_page(const tasks::View& view, const std::string& command_line) {
  report::ExportedPage page;
  report::ViewSubject subject = {
      .scene_count = view.scene_count(), .overlays = {}, .revision = 1, .has_tasks = false, .command = command_line};
  for (size_t i = 0; i < view.scene_count(); ++i) {
    const std::string number = std::to_string(i);
    page.containers.emplace_back("scene/" + number, report::scene_container(view.scene(i), 1, kNumbers));
    if (view.scene(i).items.size() > kMostNodes) continue;
    page.documents.emplace_back("nodes/" + number, nodes_document(view, i));
    page.documents.emplace_back("statistics/" + number, statistics_document(view, i));
  }
  for (size_t i = 0; i < view.overlay_count(); ++i) {
    subject.overlays.push_back(&view.overlay(i));
    page.containers.emplace_back("overlay/" + std::to_string(i),
                                 report::overlay_container(view.overlay(i), 1, kNumbers));
  }
  page.documents.emplace_back("subject", report::subject_json(subject));
  return report::exported_page(page);
}

}  // namespace assay::cli
