#include "report/view/json_view.h"

#include "report/json_parts.h"

namespace assay::report {
namespace {

void write_attribute(JsonWriter& json, const results::AttributeListing& attribute) {
  json.begin_object();
  json.field("name", attribute.name);
  json.field("type", attribute.type);
  const auto write = [&](const auto& value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::vector<const tensor::Tensor*>>) {
      json.begin_array();
      for (const tensor::Tensor* tensor : value) {
        std::string text(tensor::name(tensor->dtype()));
        for (const int64_t dim : tensor->shape()) text += " " + std::to_string(dim);
        json.value(text);
      }
      json.end_array();
    } else if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<double>> ||
                         std::is_same_v<T, std::vector<std::string>>) {
      json.begin_array();
      for (const auto& item : value) json.value(item);
      json.end_array();
    } else if constexpr (std::is_same_v<T, std::monostate>) {
      json.value(attribute.reference.empty() ? "a graph" : "@" + attribute.reference);
    } else {
      json.value(value);
    }
  };
  json.key("value");
  std::visit(write, attribute.value);
  json.end_object();
}

void write_node_port(JsonWriter& json, const results::NodePort& port) {
  json.begin_object();
  json.key("value");
  if (port.value == results::kNoItem) json.null();
  if (port.value != results::kNoItem) json.value(static_cast<uint64_t>(port.value));
  json.field("name", port.name);
  json.field("type", port.type);
  json.field("constant", port.is_constant);
  json.end_object();
}

void write_histogram(JsonWriter& json, const results::Histogram& histogram) {
  json.begin_object();
  write_list(json, "edges", histogram.edges, [](JsonWriter& list, double edge) { list.value(edge); });
  write_list(json, "counts", histogram.counts, [](JsonWriter& list, uint64_t count) { list.value(count); });
  json.end_object();
}

void write_elements_of(JsonWriter& json, const results::ValueFacts& facts) {
  json.field("source", facts.source);
  json.field("count", facts.stats.count);
  json.field("zeros", facts.zeros);
  json.field("nans", facts.stats.nan_count);
  json.field("infs", facts.stats.inf_count);
  json.field("subnormals", facts.subnormals);
  json.field("outside_float16", facts.outside_float16);
  json.field("least", facts.stats.least);
  write_numbers(json, "least_at", facts.stats.least_at);
  json.field("greatest", facts.stats.greatest);
  write_numbers(json, "greatest_at", facts.stats.greatest_at);
  json.field("mean", facts.stats.mean);
  json.field("deviation", facts.stats.standard_deviation);
  json.key("percentiles");
  json.begin_object();
  for (const auto& [percent, number] : facts.percentiles) json.field(fmt::format("{:g}", percent), number);
  json.end_object();
  if (facts.stats.histogram) {
    json.key("histogram");
    write_histogram(json, *facts.stats.histogram);
  }
  json.key("log_histogram");
  write_histogram(json, facts.magnitudes);
  write_list(json, "channels", facts.channels, [](JsonWriter& list, const results::ChannelRange& range) {
    list.begin_object();
    list.field("least", range.least);
    list.field("mean", range.mean);
    list.field("greatest", range.greatest);
    list.end_object();
  });
}

}  // namespace

std::string subject_json(const ViewSubject& subject) {
  JsonWriter json;
  json.begin_object();
  json.key("scenes");
  json.begin_array();
  json.value("main");
  if (subject.scene_count > 1) json.value("other");
  json.end_array();
  json.key("overlays");
  json.begin_array();
  for (size_t i = 0; i < subject.overlays.size(); ++i) {
    json.begin_object();
    json.field("id", std::to_string(i));
    json.field("title", subject.overlays[i]->title);
    json.field("what", subject.overlays[i]->what);
    json.end_object();
  }
  json.end_array();
  json.field("revision", subject.revision);
  json.field("tasks", subject.has_tasks);
  json.field("command", subject.command);
  json.end_object();
  return json.text();
}

std::string node_json(const results::NodeFacts& facts) {
  JsonWriter json;
  json.begin_object();
  json.field("name", facts.name);
  json.field("op", facts.op);
  json.field("domain", facts.domain);
  json.field("doc", facts.doc);
  write_list(json, "attributes", facts.attributes, write_attribute);
  write_list(json, "inputs", facts.inputs, write_node_port);
  write_list(json, "outputs", facts.outputs, write_node_port);
  json.key("metadata");
  json.begin_object();
  for (const auto& [key, value] : facts.metadata) json.field(key, value);
  json.end_object();
  json.key("origins");
  json.begin_array();
  json.end_array();
  json.key("cost");
  json.begin_object();
  json.field("macs", facts.macs);
  json.field("params", facts.params);
  json.field("bytes", facts.bytes);
  json.end_object();
  json.field("source", facts.source);
  json.end_object();
  return json.text();
}

std::string value_json(const results::ValueFacts& facts) {
  JsonWriter json;
  json.begin_object();
  json.field("name", facts.name);
  json.field("type", facts.type);
  const bool is_available = facts.reason.empty();
  json.field("available", is_available);
  if (is_available) write_elements_of(json, facts);
  if (!is_available) json.field("reason", facts.reason);
  json.end_object();
  return json.text();
}

std::string comparison_json(const results::ValueComparison& comparison) {
  JsonWriter json;
  json.begin_object();
  json.field("available", comparison.sides.size() == 2);
  write_texts(json, "sides", comparison.sides);
  write_list(json, "histograms", comparison.histograms, write_histogram);
  write_list(json, "scatter", comparison.points, [](JsonWriter& list, const std::pair<double, double>& point) {
    list.begin_array();
    list.value(point.first);
    list.value(point.second);
    list.end_array();
  });
  write_list(json, "worst", comparison.worst, [](JsonWriter& list, const results::ValueComparison::Worst& worst) {
    list.begin_object();
    write_numbers(list, "at", worst.at);
    list.field("left", worst.left);
    list.field("right", worst.right);
    list.end_object();
  });
  json.end_object();
  return json.text();
}

std::string items_json(const std::vector<uint32_t>& items) {
  JsonWriter json;
  json.begin_object();
  write_list(json, "items", items, [](JsonWriter& list, uint32_t item) { list.value(static_cast<uint64_t>(item)); });
  json.end_object();
  return json.text();
}

}  // namespace assay::report
