#pragma once

#include "results/fields/comparison.h"
#include "results/overlay.h"
#include "results/value_facts.h"

namespace assay::results {

template <>
struct Fields<NodePort> {
  static void of(auto& v, auto& port) {
    v.or_null(port.value != kNoItem, "value", port.value);
    v("name", port.name);
    v("type", port.type);
    v("constant", port.is_constant);
  }
};

template <>
struct Fields<OverlayField> {
  static void of(auto& v, auto& field) {
    v("name", field.name);
    v("unit", field.unit);
    v("scale", field.scale);
    v("description", field.description);
  }
};

// The items of groups are a column.
template <>
struct Fields<OverlayGroup> {
  static void of(auto& v, auto& group) {
    v("label", group.label);
    v("state", group.state);
  }
};

template <>
struct Fields<OverlayNote> {
  static void of(auto& v, auto& note) {
    v.or_null(note.item != kNoItem, "item", note.item);
    v("severity", note.severity);
    v.some("code", note.code);
    v("text", note.text);
    v.some("command", note.command);
  }
};

template <>
struct Fields<OverlayRow> {
  static void of(auto& v, auto& row) {
    v.rest(row.words, row.numbers);
    v("items", row.items);
  }
};

// The head of a container, whose columns the rest is.
template <>
struct Fields<Overlay> {
  static void of(auto& v, auto& overlay) {
    v("title", overlay.title);
    v("source", overlay.source);
    v("what", overlay.what);
    v("scene", overlay.scene);
    v.rest(overlay.words, overlay.numbers);
    v("sides", overlay.sides);
    v("lanes", overlay.lanes);
    v("fields", overlay.fields);
    v("groups", overlay.groups);
    v("notes", overlay.notes);
    v("table", overlay.table);
  }
};

template <>
struct Fields<ChannelRange> {
  static void of(auto& v, auto& range) {
    v("least", range.least);
    v("mean", range.mean);
    v("greatest", range.greatest);
  }
};

template <>
struct Fields<ValueFacts> {
  static void of(auto& v, auto& facts) {
    v("name", facts.name);
    v("type", facts.type);
    v.told("available", facts.reason.empty());
    v.some("reason", facts.reason);
    if (v.has("source", facts.reason.empty())) elements(v, facts);
  }

 private:
  static void elements(auto& v, auto& facts) {
    v("source", facts.source);
    v("count", facts.stats.count);
    v("zeros", facts.zeros);
    v("nans", facts.stats.nan_count);
    v("infs", facts.stats.inf_count);
    v("subnormals", facts.subnormals);
    v("outside_float16", facts.outside_float16);
    v("least", facts.stats.least);
    v("least_at", facts.stats.least_at);
    v("greatest", facts.stats.greatest);
    v("greatest_at", facts.stats.greatest_at);
    v("mean", facts.stats.mean);
    v("deviation", facts.stats.standard_deviation);
    v.keyed("percentiles", facts.percentiles);
    v.some("histogram", facts.stats.histogram);
    v("log_histogram", facts.magnitudes);
    v("channels", facts.channels);
  }
};

// The head of a container, whose column the cells are.
template <>
struct Fields<ValueSlice> {
  static void of(auto& v, auto& slice) {
    v.told("shape", std::vector{slice.rows, slice.columns});
    v("dims", slice.dims);
    v("is_reduced", slice.is_reduced);
    v("least", slice.least);
    v("greatest", slice.greatest);
  }
};

template <>
struct Fields<ValueComparison::Worst> {
  static void of(auto& v, auto& worst) {
    v("at", worst.at);
    v("left", worst.left);
    v("right", worst.right);
  }
};

template <>
struct Fields<ValueComparison> {
  static void of(auto& v, auto& comparison) {
    v.told("available", comparison.sides.size() == 2);
    v("sides", comparison.sides);
    v("histograms", comparison.histograms);
    v("scatter", comparison.points);
    v("worst", comparison.worst);
  }
};

}  // namespace assay::results
