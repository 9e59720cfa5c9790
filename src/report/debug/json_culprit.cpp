#include "report/debug/json_culprit.h"

#include "report/json_parts.h"

namespace assay::report {
namespace {

void write_error(JsonWriter& json, const results::LayerVerdict& error) {
  json.field("node", error.node);
  json.field("op", error.op);
  json.field("value", error.value);
  json.field("side", error.side);
  json.field("introduced", error.introduced);
  json.field("inherited", error.inherited);
  json.field("total", error.total);
  json.field("tolerance", error.tolerance);
  json.field("excess", error.excess);
  json.field("magnitude", error.magnitude);
  json.field("failed_count", error.failed_count);
  json.field("count", error.count);
  write_texts(json, "group", error.group);
}

void write_layer(JsonWriter& json, const results::LayerVerdict& error) {
  json.begin_object();
  json.field("index", error.index);
  write_error(json, error);
  json.end_object();
}

void write_culprit(JsonWriter& json, const results::Culprit& culprit) {
  json.begin_object();
  write_error(json, culprit.error);
  json.field("cause", culprit.cause);
  json.field("reason", culprit.reason);
  json.field("in_both_models", culprit.is_in_both);
  json.key("share_of_output");
  culprit.share_of_output ? json.value(*culprit.share_of_output) : json.null();
  json.key("inner");
  if (culprit.inner) {
    json.begin_object();
    write_error(json, culprit.inner->error);
    json.field("cause", culprit.inner->cause);
    json.field("reason", culprit.inner->reason);
    json.end_object();
  } else {
    json.null();
  }
  json.end_object();
}

void write_side(JsonWriter& json, const results::AccuracySide& side) {
  json.begin_object();
  json.field("name", side.name);
  json.field("output_error", side.output_error);
  json.field("output_magnitude", side.output_magnitude);
  json.field("values", side.given_count);
  json.key("probe_effect");
  side.probe_effect ? json.value(*side.probe_effect) : json.null();
  json.key("deterministic");
  side.is_deterministic ? json.value(*side.is_deterministic) : json.null();
  json.end_object();
}

void write_matches(JsonWriter& json, const results::LayerMatches& matches) {
  json.begin_object();
  json.field("by_name", matches.by_name);
  json.field("by_structure", matches.by_structure);
  write_texts(json, "unmatched", matches.unmatched);
  json.end_object();
}

void write_remedy(JsonWriter& json, const results::Remedy& remedy) {
  json.begin_object();
  json.field("text", remedy.text);
  json.field("error_before", remedy.error_before);
  json.field("error_after", remedy.error_after);
  json.field("cures", remedy.cures);
  json.field("helps", remedy.helps);
  json.end_object();
}

void write_cost(JsonWriter& json, const results::LayerCost& cost) {
  json.begin_object();
  json.field("node", cost.node);
  json.field("op", cost.op);
  json.field("introduced", cost.introduced);
  json.key("output_error");
  cost.output_error ? json.value(*cost.output_error) : json.null();
  json.end_object();
}

}  // namespace

std::string accuracy_hunt_json(const results::AccuracyHunt& hunt) {
  JsonReport out("debug accuracy");
  JsonWriter& json = out.json;
  json.field("model", hunt.model);
  json.field("layer_count", hunt.layer_count);
  json.key("first_guilty");
  hunt.culprits.empty() ? json.null() : write_culprit(json, hunt.culprits.front());
  write_list(json, "guilty", hunt.culprits, write_culprit);
  write_list(json, "harmless", hunt.harmless, write_culprit);
  json.field("doubt", hunt.doubt);
  write_list(json, "sides", hunt.sides, write_side);
  json.key("matches");
  hunt.matches ? write_matches(json, *hunt.matches) : json.null();
  write_list(json, "remedies", hunt.remedies, write_remedy);
  write_list(json, "costs", hunt.costs, write_cost);
  write_list(json, "layers", hunt.layers, write_layer);
  return out.end(hunt.timings);
}

}  // namespace assay::report
