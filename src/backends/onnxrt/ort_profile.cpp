#include "backends/onnxrt/ort_profile.h"

#include <algorithm>
#include <map>

#include "base/files.h"
#include "formats/json/json_reader.h"

namespace assay::backends::ort {
namespace {

struct Event {
  std::string category;
  std::string name;
  std::string op;
  std::string provider;
  double microseconds = 0;
};

void read_facts(formats::JsonReader& in, Event& event) {
  in.begin_object();
  for (std::string key; in.next_key(key);) {
    if (key == "op_name")
      event.op = in.string().text();
    else if (key == "provider")
      event.provider = in.string().text();
    else
      in.skip();
  }
}

Event read_event(formats::JsonReader& in) {
  Event event;
  in.begin_object();
  for (std::string key; in.next_key(key);) {
    if (key == "cat")
      event.category = in.string().text();
    else if (key == "name")
      event.name = in.string().text();
    else if (key == "dur")
      event.microseconds = in.number();
    else if (key == "args")
      read_facts(in, event);
    else
      in.skip();
  }
  return event;
}

// The times of layers in each run. The event of a run comes behind those of its layers.
class Runs {
 public:
  void add(const Event& event) {
    constexpr std::string_view kKernel = "_kernel_time";
    constexpr std::string_view kRun = "model_run";
    if (event.category == "Session" && event.name == kRun) return end_run();
    if (event.category != "Node" || !event.name.ends_with(kKernel)) return;
    const std::string name = event.name.substr(0, event.name.size() - kKernel.size());
    const auto [place, is_new] = numbers_.emplace(name, layers_.size());
    if (is_new) add_layer(name, event);
    current_[place->second] += event.microseconds * 1e-6;  // of a layer in a loop, several
  }

  std::vector<exec::LayerSeconds> take() {
    if (!has_ended_) end_run();
    for (size_t i = 0; i < layers_.size(); ++i) {
      std::vector<double>& times = times_[i];
      if (times.size() > 1) times.erase(times.begin());  // work of the first run alone is not counted
      const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
      std::ranges::nth_element(times, middle);
      layers_[i].seconds = *middle;
    }
    return std::move(layers_);
  }

 private:
  void add_layer(const std::string& name, const Event& event) {
    constexpr std::string_view kFused = "fused ";
    std::string origin = name.starts_with(kFused) ? name.substr(kFused.size()) : name;
    layers_.push_back({.layer = name, .op = event.op, .origins = {std::move(origin)}, .provider = event.provider});
    current_.push_back(0);
    times_.emplace_back(runs_, 0);  // a branch that no run before this one took
  }

  void end_run() {
    for (size_t i = 0; i < layers_.size(); ++i) {
      times_[i].push_back(current_[i]);
      current_[i] = 0;
    }
    ++runs_;
    has_ended_ = true;
  }

  std::vector<exec::LayerSeconds> layers_;
  std::map<std::string, size_t> numbers_;   // of layers, by name
  std::vector<double> current_;             // of the run that is read
  std::vector<std::vector<double>> times_;  // of each layer, run by run
  size_t runs_ = 0;
  bool has_ended_ = false;
};

}  // namespace

std::vector<exec::LayerSeconds> read_profile(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  formats::JsonReader in({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()});
  Runs runs;
  for (in.begin_array(); in.next_item();) runs.add(read_event(in));
  in.finish();
  return runs.take();
}

}  // namespace assay::backends::ort
