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
  double microseconds = 0;
};

void read_facts(formats::JsonReader& in, Event& event) {
  in.begin_object();
  for (std::string key; in.next_key(key);) {
    if (key == "op_name")
      event.op = in.string().text();
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

}  // namespace

std::vector<exec::LayerSeconds> read_profile(const std::filesystem::path& path) {
  constexpr std::string_view kKernel = "_kernel_time";
  constexpr std::string_view kFused = "fused ";
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  formats::JsonReader in({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()});
  std::vector<exec::LayerSeconds> layers;
  std::map<std::string, size_t> numbers;  // of layers, by name
  std::vector<uint64_t> counts;
  for (in.begin_array(); in.next_item();) {
    const Event event = read_event(in);
    if (event.category != "Node" || !event.name.ends_with(kKernel)) continue;
    const std::string name = event.name.substr(0, event.name.size() - kKernel.size());
    const auto [place, is_new] = numbers.emplace(name, layers.size());
    if (is_new) {
      std::string origin = name.starts_with(kFused) ? name.substr(kFused.size()) : name;
      layers.push_back({name, event.op, 0, {std::move(origin)}});
      counts.push_back(0);
    }
    layers[place->second].seconds += event.microseconds * 1e-6;
    ++counts[place->second];
  }
  in.finish();
  // A layer in a loop runs several times for each run of the model; every layer of the main graph runs once.
  const uint64_t runs = counts.empty() ? 1 : *std::ranges::min_element(counts);
  for (exec::LayerSeconds& layer : layers) layer.seconds /= static_cast<double>(runs);
  return layers;
}

}  // namespace assay::backends::ort
