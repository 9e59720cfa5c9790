#include "tasks/view.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <future>
#include <mutex>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/read_text.h"
#include "base/text.h"
#include "formats/calibration_cache.h"
#include "formats/json/field_reader.h"
#include "formats/saved_data.h"
#include "ir/queries.h"
#include "scene/make.h"
#include "scene/overlays/overlays.h"
#include "scene/own_functions.h"
#include "scene/scopes.h"
#include "scene/values.h"
#include "tasks/inspect.h"

namespace assay::tasks {
namespace {

// One model and its boxes.
struct Shown {
  Shown(const ModelSource& source, Observer& observer)
      : path(source.path),
        loaded(is_engine_file(source) ? load_plan_source(source, observer) : load_model(source, observer)) {}

  // Boxes are made beside inference.
  void make(Observer& observer) {
    scene::give_calls_their_functions(loaded.model);
    const ir::Model& model = loaded.model;
    std::future<scene::MadeScene> boxes =
        std::async(std::launch::async, [&model] { return scene::make_boxes(model, scene::grouped_tree(model)); });
    std::unique_ptr<ops::Inference> inference = infer_types(loaded);
    tell_findings(loaded.findings, observer);
    scene::FoundTypes types = scene::find_types(model, *inference);
    std::future<void> freed = std::async(std::launch::async, [&inference] { inference.reset(); });
    made = boxes.get();
    scene::add_types(model, std::move(types), made);
    freed.get();
    made.scene.file = path;
  }

  std::string path;
  LoadedModel loaded;
  scene::MadeScene made;
};

// Saved values of one side.
struct SavedSide {
  std::string name;
  tensor::NamedData values;
};

std::string start_of(const std::string& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const Bytes start = file->bytes().first(std::min<size_t>(file->size(), 200));
  return {reinterpret_cast<const char*>(start.data()), start.size()};
}

// True for an object whose first key is `schema`, as all reports have it.
bool is_report(const std::string& path) {
  if (std::filesystem::is_directory(path)) return false;
  const std::string text = start_of(path);
  const size_t begin = text.find_first_not_of(" \t\r\n{");
  return text.starts_with('{') && begin != std::string::npos &&
         std::string_view(text).substr(begin).starts_with("\"schema\"");
}

bool is_calibration_cache(const std::string& path) {
  return !std::filesystem::is_directory(path) && start_of(path).starts_with("TRT-");
}

const tensor::Tensor* find_tensor(const tensor::NamedData& data, std::string_view name) {
  for (const tensor::NamedDatum& datum : data) {
    if (datum.name == name && datum.value.is_tensor()) return &datum.value.tensor();
  }
  return nullptr;
}

}  // namespace

struct View::Impl {
  void make(const ViewRequest& request, Observer& observer);
  void make_scenes(Observer& observer);
  void add_overlays(const ViewRequest& request, Observer& observer);
  // The turn of a call that needs all that is made.
  std::unique_lock<std::mutex> lock() const {
    all_made.get();
    return std::unique_lock(mutex);
  }
  const Shown& shown(size_t scene) const;
  ir::ValueId value_of(size_t scene, uint32_t number) const;
  const tensor::Tensor* constant(const Shown& shown, ir::ValueId value) const;
  // The elements that are known, and where they are from.
  std::pair<const tensor::Tensor*, std::string> elements(size_t scene, ir::ValueId value) const;
  std::vector<std::pair<std::string, const tensor::Tensor*>> all_sides(size_t scene, ir::ValueId value) const;
  void add_file(const std::string& path);
  const scene::SceneNames& first_names();
  void add_report(const std::string& json, const std::string& source);
  void add_data(const std::string& path);
  void add_overlay(results::Overlay overlay, const std::string& path);

  mutable std::mutex mutex;
  std::deque<Shown> models;
  std::unique_ptr<scene::SceneNames> names;
  std::deque<results::Overlay> overlays;
  std::vector<SavedSide> sides;
  std::promise<void> scenes_promise;
  std::shared_future<void> scenes_made = scenes_promise.get_future();
  std::shared_future<void> all_made;
};

void View::Impl::make_scenes(Observer& observer) {
  try {
    for (Shown& shown : models) shown.make(observer);
    scenes_promise.set_value();
  } catch (...) {
    scenes_promise.set_exception(std::current_exception());
    throw;
  }
}

void View::Impl::add_overlays(const ViewRequest& request, Observer& observer) {
  if (models.size() > 1) {
    const Shown& first = models.front();
    const Shown& second = models.back();
    auto [mine, others] = scene::difference_overlays(first.loaded.model, first.made, second.loaded.model, second.made);
    add_overlay(std::move(mine), second.path);
    add_overlay(std::move(others), first.path);
  }
  if (is_engine_file(request.model)) add_file(request.model.path);
  for (const std::string& path : request.with) {
    check_cancelled(observer);
    try {
      add_file(path);
    } catch (const Error& error) {
      observer.warning(fmt::format("`{}` is not shown: {}", printable(path), error.line()));
    }
  }
}

void View::Impl::make(const ViewRequest& request, Observer& observer) {
  make_scenes(observer);
  add_overlays(request, observer);
}

const Shown& View::Impl::shown(size_t scene) const {
  if (scene >= models.size()) fail(ErrorCode::usage, "there is no scene {}", scene);
  return models[scene];
}

ir::ValueId View::Impl::value_of(size_t scene, uint32_t number) const {
  const Shown& model = shown(scene);
  const ir::ValueId value = scene::value_of(model.made, number);
  if (!value || !model.loaded.model[value].alive) fail(ErrorCode::usage, "there is no value {}", number);
  return value;
}

const tensor::Tensor* View::Impl::constant(const Shown& shown, ir::ValueId value) const {
  const ir::Model& model = shown.loaded.model;
  if (const ir::TensorId id = model[value].constant) return model[id].sparse ? nullptr : &model[id].tensor;
  const auto folded = shown.made.types.folded.find(value);
  return folded == shown.made.types.folded.end() ? nullptr : &folded->second;
}

std::vector<std::pair<std::string, const tensor::Tensor*>> View::Impl::all_sides(size_t scene,
                                                                                 ir::ValueId value) const {
  std::vector<std::pair<std::string, const tensor::Tensor*>> found;
  const ir::Model& model = shown(scene).loaded.model;
  for (const SavedSide& side : sides) {
    if (const tensor::Tensor* tensor = find_tensor(side.values, model.text(model[value].name))) {
      found.emplace_back(side.name, tensor);
    }
  }
  return found;
}

std::pair<const tensor::Tensor*, std::string> View::Impl::elements(size_t scene, ir::ValueId value) const {
  if (const tensor::Tensor* tensor = constant(shown(scene), value)) return {tensor, "the model"};
  const auto saved = all_sides(scene, value);
  if (saved.empty()) return {nullptr, ""};
  return {saved.front().second, saved.front().first};
}

void View::Impl::add_overlay(results::Overlay overlay, const std::string& path) {
  overlay.source = path;
  overlays.push_back(std::move(overlay));
}

// One side for each run of saved outputs; saved inputs are one.
void View::Impl::add_data(const std::string& path) {
  formats::SavedData data = formats::load_data(path);
  results::Overlay overlay;
  overlay.what = "data";
  overlay.title = "saved values";
  const auto add = [&](std::string name, tensor::NamedData values) {
    for (const tensor::NamedDatum& datum : values) {
      results::OverlayRow row;
      row.words = {{"layer", datum.name}, {"side", name}};
      if (const uint32_t item = first_names().producer(datum.name); item != results::kNoItem) row.items = {item};
      overlay.table.push_back(std::move(row));
    }
    sides.push_back({std::move(name), std::move(values)});
  };
  if (auto* inputs = std::get_if<formats::SavedInputs>(&data)) {
    if (!inputs->empty()) add("inputs", std::move(inputs->front()));
  } else {
    for (formats::SavedRun& run : std::get<formats::SavedRuns>(data)) {
      if (!run.iterations.empty()) add(run.runner, std::move(run.iterations.front().outputs));
    }
  }
  add_overlay(std::move(overlay), path);
}

const scene::SceneNames& View::Impl::first_names() {
  if (!names) names = std::make_unique<scene::SceneNames>(models.front().loaded.model, models.front().made);
  return *names;
}

void View::Impl::add_report(const std::string& json, const std::string& source) {
  const std::optional<scene::RewriteSteps> steps = scene::read_steps(json);
  if (!steps) return add_overlay(scene::report_overlay(json, first_names()), source);
  const bool has_both = models.size() > 1;
  using enum scene::ShownSteps;
  add_overlay(scene::steps_overlay(*steps, first_names(), has_both ? removed : all), source);
  if (!has_both) return;
  const scene::SceneNames names_after(models.back().loaded.model, models.back().made);
  add_overlay(scene::steps_overlay(*steps, names_after, added), source);
}

void View::Impl::add_file(const std::string& path) {
  ModelSource source;
  source.path = path;
  if (is_engine_file(source)) {
    Observer silent;
    return add_overlay(scene::plan_overlay(inspect_engine({path, ""}, silent), first_names()), path);
  }
  if (is_report(path)) return add_report(read_text(path), path);
  if (is_calibration_cache(path)) {
    return add_overlay(scene::calibration_overlay(formats::read_calibration_cache(path), first_names()), path);
  }
  if (!formats::is_data(path)) {
    fail(ErrorCode::unsupported, "it is neither a report, a plan, saved data nor a calibration cache");
  }
  add_data(path);
}

View::View(const ViewRequest& request, Observer& observer) : impl_(std::make_unique<Impl>()) {
  impl_->models.emplace_back(request.model, observer);
  if (request.other) impl_->models.emplace_back(*request.other, observer);
  Impl& impl = *impl_;
  impl.all_made = std::async(std::launch::async, [&impl, request, &observer] { impl.make(request, observer); }).share();
}

View::~View() = default;

void View::wait() const { impl_->all_made.get(); }

size_t View::scene_count() const { return impl_->models.size(); }

const std::string& View::file(size_t scene) const { return impl_->shown(scene).path; }

const results::Scene& View::scene(size_t number) const {
  const Shown& shown = impl_->shown(number);
  impl_->scenes_made.get();
  return shown.made.scene;
}

size_t View::overlay_count() const {
  const auto lock = impl_->lock();
  return impl_->overlays.size();
}

const results::Overlay& View::overlay(size_t number) const {
  const auto lock = impl_->lock();
  if (number >= impl_->overlays.size()) fail(ErrorCode::usage, "there is no overlay {}", number);
  return impl_->overlays[number];
}

size_t View::add_report(const std::string& path) {
  const auto lock = impl_->lock();
  impl_->add_file(path);
  return impl_->overlays.size() - 1;
}

void View::add_text(const std::string& json, const std::string& source) {
  const auto lock = impl_->lock();
  impl_->add_report(json, source);
}

results::NodeFacts View::node(size_t scene, uint32_t item) const {
  const auto lock = impl_->lock();
  const Shown& shown = impl_->shown(scene);
  if (item >= shown.made.nodes.size()) fail(ErrorCode::usage, "there is no box {}", item);
  return scene::node_facts(shown.loaded.model, shown.made, item);
}

results::ValueFacts View::value(size_t scene, uint32_t number) const {
  const auto lock = impl_->lock();
  const ir::ValueId value = impl_->value_of(scene, number);
  const auto [tensor, source] = impl_->elements(scene, value);
  results::ValueFacts facts;
  const bool is_weight = tensor != nullptr && source == "the model";
  if (tensor == nullptr) facts.reason = "no elements of it are saved";
  try {
    if (tensor != nullptr) facts = scene::value_facts(*tensor, is_weight ? 0 : 1);
    facts.source = source;
  } catch (const Error& error) {
    facts.reason = error.line();
  }
  const ir::Model& model = impl_->shown(scene).loaded.model;
  facts.name = model.text(model[value].name);
  if (tensor != nullptr) {
    facts.type = std::string(tensor::name(tensor->dtype())) + "[";
    for (size_t i = 0; i < tensor->shape().size(); ++i) {
      facts.type += (i > 0 ? "," : "") + std::to_string(tensor->shape()[i]);
    }
    facts.type += ']';
  }
  return facts;
}

results::ValueSlice View::slice(size_t scene, uint32_t number, const SliceRequest& request) const {
  const auto lock = impl_->lock();
  const auto [tensor, source] = impl_->elements(scene, impl_->value_of(scene, number));
  if (tensor == nullptr) fail(ErrorCode::usage, "no elements of the value are known");
  const scene::Reduction reduction = request.reduce == "min"    ? scene::Reduction::least
                                     : request.reduce == "mean" ? scene::Reduction::mean
                                                                : scene::Reduction::greatest;
  return scene::value_slice(*tensor, request.at, reduction, std::clamp<size_t>(request.most, 1, 1000));
}

results::ValueComparison View::compare(size_t scene, uint32_t number) const {
  const auto lock = impl_->lock();
  const auto saved = impl_->all_sides(scene, impl_->value_of(scene, number));
  if (saved.size() < 2) return {};
  results::ValueComparison comparison = scene::compare_values(*saved[0].second, *saved[1].second);
  comparison.sides = {saved[0].first, saved[1].first};
  return comparison;
}

std::vector<uint32_t> View::search(size_t scene, std::string_view words) const {
  const auto lock = impl_->lock();
  const Shown& shown = impl_->shown(scene);
  const size_t equals = words.find('=');
  const std::string name = to_lower(words.substr(0, equals));
  const std::string wanted = equals == std::string_view::npos ? "" : to_lower(words.substr(equals + 1));
  std::vector<uint32_t> found;
  for (uint32_t item = 0; item < shown.made.nodes.size(); ++item) {
    const ir::NodeId node = shown.made.nodes[item];
    if (node && scene::has_attribute(shown.loaded.model, node, name, wanted)) found.push_back(item);
  }
  return found;
}

std::vector<std::string> text_fields(std::string_view json, std::string_view key) {
  std::vector<std::string> texts;
  formats::FieldReader fields(json);
  fields(key, texts);
  return texts;
}

std::string text_field(std::string_view json, std::string_view key) {
  std::string text;
  formats::FieldReader fields(json);
  fields(key, text);
  return text;
}

}  // namespace assay::tasks
