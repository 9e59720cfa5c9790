#include <algorithm>

#include <fmt/format.h>

#include "scene/overlays/overlays.h"

namespace assay::scene {
namespace {

using results::Overlay;

void set_number(std::vector<float>& column, uint32_t at, double number) {
  if (at < column.size()) column[at] = static_cast<float>(number);
}

// Fields whose numbers are read under their names, and that are shown for values too.
struct Field {
  std::string_view name;
  std::string_view unit;
  std::string_view scale;
  std::string_view description;
  bool is_of_values = false;
};

constexpr Field kAccuracyFields[] = {
    {"excess", "", "diverging", "introduced error over what rounding allows; above 1 the layer is accused"},
    {"introduced", "", "log", "error that the layer adds on the operands that it was given"},
    {"inherited", "", "log", "error that the layer would have if it were exact"},
    {"total", "", "log", "error of the result", true},
    {"tolerance", "", "log", "what may be introduced where it is worst"},
    {"magnitude", "", "log", "size of the result"},
};

constexpr Field kRunFields[] = {
    {"max_abs", "", "log", "greatest absolute difference", true},
    {"max_rel", "", "log", "greatest relative difference", true},
    {"mean_abs", "", "log", "mean absolute difference"},
    {"failed", "", "linear", "share of elements beyond both tolerances"},
};

void add_fields(std::span<const Field> fields, Overlay& overlay) {
  for (const Field& field : fields) {
    overlay.fields.push_back(
        {std::string(field.name), std::string(field.unit), std::string(field.scale), std::string(field.description)});
  }
}

void add_numbers(std::span<const Field> fields, const JsonValue& row, std::string_view side,
                 const std::pair<uint32_t, uint32_t>& places, const SceneNames& names, Overlay& overlay) {
  const auto& [item, value] = places;
  for (const Field& field : fields) {
    const double number = row[field.name].number;
    set_number(column_of(overlay, side, field.name, false, names.item_count()), item, number);
    if (field.is_of_values) {
      set_number(column_of(overlay, side, field.name, true, names.value_count()), value, number);
    }
  }
}

// The name of a runner without its number and time.
std::string side_name(const JsonValue& pair, std::string_view key) {
  const std::string& name = pair[key].text;
  return name.substr(0, name.find("-runner-"));
}

void add_guilty(const JsonValue& layer, const SceneNames& names, Overlay& overlay) {
  results::OverlayNote note;
  note.item = names.item(layer["node"].text);
  note.severity = "error";
  note.code = layer["cause"].text;
  note.text = fmt::format("{} introduces {:.3g}, {:.3g} times what it may", layer["side"].text,
                          layer["introduced"].number, layer["excess"].number);
  if (!layer["reason"].text.empty()) note.text += ": " + layer["reason"].text;
  overlay.notes.push_back(std::move(note));
  results::OverlayRow row;
  row.words = {{"layer", layer["node"].text},
               {"op", layer["op"].text},
               {"side", layer["side"].text},
               {"cause", layer["cause"].text},
               {"reason", layer["reason"].text}};
  row.numbers = {{"introduced", layer["introduced"].number},
                 {"excess", layer["excess"].number},
                 {"share_of_output", layer["share_of_output"].number}};
  row.items = names.items({layer["node"].text});
  overlay.table.push_back(std::move(row));
}

}  // namespace

Overlay accuracy_overlay(const JsonValue& report, const SceneNames& names) {
  Overlay overlay;
  overlay.what = "accuracy";
  overlay.title = "errors by layer";
  for (const JsonValue& side : report["sides"].items) overlay.sides.push_back(side["name"].text);
  add_fields(kAccuracyFields, overlay);
  for (const JsonValue& layer : report["layers"].items) {
    const std::pair places(names.item(layer["node"].text), names.value(layer["value"].text));
    add_numbers(kAccuracyFields, layer, layer["side"].text, places, names, overlay);
    const std::vector<std::string> group = layer["group"].texts();
    if (group.empty()) continue;
    std::vector<uint32_t> items = names.items(group);
    if (places.first != kNoItem) items.push_back(places.first);
    overlay.groups.push_back({layer["node"].text, "judged together", std::move(items)});
  }
  for (const JsonValue& layer : report["guilty"].items) add_guilty(layer, names, overlay);
  for (const JsonValue& remedy : report["remedies"].items) {
    overlay.notes.push_back(
        {kNoItem, remedy["cures"].is_true() ? "info" : "warning", "remedy", remedy["text"].text, ""});
  }
  if (!report["doubt"].text.empty()) overlay.words.emplace_back("verdict", report["doubt"].text);
  return overlay;
}

Overlay run_overlay(const JsonValue& report, const SceneNames& names) {
  Overlay overlay;
  overlay.what = "run";
  overlay.title = "differences of outputs";
  overlay.words.emplace_back("verdict", report["verdict"].text);
  add_fields(kRunFields, overlay);
  for (const JsonValue& pair : report["pairs"].items) {
    const std::string side = side_name(pair, "runner_a") + " against " + side_name(pair, "runner_b");
    if (pair["iterations"].items.empty()) continue;
    for (const JsonValue& output : pair["iterations"].items.front()["outputs"].items) {
      const std::string& name = output["name"].text;
      const std::pair places(names.producer(name), names.value(name));
      add_numbers(kRunFields, output, side, places, names, overlay);
      const double share = output["failed_count"].number / std::max(1.0, output["count"].number);
      set_number(column_of(overlay, side, "failed", false, names.item_count()), places.first, share);
      if (output["passed"].kind != JsonValue::Kind::boolean || output["passed"].is_true()) continue;
      overlay.notes.push_back(
          {places.first, "error", "different",
           fmt::format("`{}` differs, {}: greatest difference {:.3g}", name, side, output["max_abs"].number), ""});
    }
  }
  for (const JsonValue& run : report["runs"].items) {
    if (run["failure"].text.empty()) continue;
    overlay.notes.push_back({kNoItem, "error", "failure", run["runner"].text + ": " + run["failure"].text, ""});
  }
  return overlay;
}

Overlay range_overlay(const JsonValue& report, const SceneNames& names) {
  constexpr Field kFields[] = {
      {"least", "", "log", "least magnitude that is not 0", true},
      {"greatest", "", "log", "greatest magnitude", true},
      {"low", "", "linear", "least number that is possible"},
      {"high", "", "linear", "greatest number that is possible"},
  };
  Overlay overlay;
  overlay.what = "range";
  overlay.title = "ranges of values";
  add_fields(kFields, overlay);
  for (const std::string_view list : {"values", "bounds"}) {
    for (const JsonValue& value : report[list].items) {
      const std::string& name = value["value"].text;
      uint32_t item = names.producer(name);
      if (item == kNoItem) item = names.item(value["node"].text);
      add_numbers(kFields, value, "", {item, names.value(name)}, names, overlay);
    }
  }
  return overlay;
}

}  // namespace assay::scene
