// Arbitrary bytes, imported as a model or, where they begin with `<`, parsed as one, and shown: each box stands in an
// earlier one, all nodes are there, and lines join boxes of one group.
#include "base/error.h"
#include "scene/make.h"
#include "scene/own_functions.h"
#include "support/fuzzing.h"

namespace {

using namespace assay;
using namespace testing_support;

void check(const results::Scene& scene) {
  const results::SceneItems& items = scene.items;
  for (uint32_t i = 1; i < items.size(); ++i) {
    const uint32_t parent = items.parents[i];
    require(parent < i && i - items.first_children[parent] < items.child_counts[parent], "a box in another");
  }
  const results::SceneLines& lines = scene.lines;
  for (size_t i = 0; i < lines.values.size(); ++i) {
    const bool is_inside = lines.from[i] != results::kNoItem && lines.to[i] != results::kNoItem;
    require(!is_inside || items.parents[lines.from[i]] == items.parents[lines.to[i]], "a line in one group");
    require(lines.bend_starts[i] + lines.bend_counts[i] <= lines.bends_x.size(), "bends of a line");
  }
}

void show(ir::Model model) {
  scene::give_calls_their_functions(model);
  ops::Inference inference(model);
  inference.run();
  const scene::MadeScene made = scene::make_scene(model, inference);
  check(made.scene);
  for (uint32_t item = 0; item < made.scene.items.size(); ++item) {
    for (const results::NodePort& port : scene::node_facts(model, made, item).inputs) {
      require(port.value == results::kNoItem || scene::value_of(made, port.value).valid(), "a value of that number");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    Diagnostics findings;
    show(model_of({reinterpret_cast<const std::byte*>(data), size}, findings));
  } catch (const Error&) {  // what is no model
    return 0;
  }
  return 0;
}
