#include "report/view/containers.h"

#include "formats/json/field_writer.h"
#include "report/json_parts.h"
#include "results/fields/view.h"

namespace assay::report {
namespace {

// `float32[2,N]`, or no more than is known.
std::string shape_text(const results::ValueInfo& info) {
  if (!info.ranked) return "";
  std::string text = "[";
  for (const results::ListedDim& dim : info.shape) {
    if (text.size() > 1) text += ',';
    text += dim.value ? std::to_string(*dim.value) : dim.symbol.empty() ? "?" : dim.symbol;
  }
  return text + "]";
}

void write_port(JsonWriter& json, const results::ValueInfo& info) {
  json.begin_object();
  json.field("name", info.name);
  json.field("type", info.type + shape_text(info));
  json.end_object();
}

void write_scene_head(JsonWriter& json, const results::Scene& scene, uint64_t revision) {
  json.field("revision", revision);
  json.field("model", scene.model);
  json.field("file", scene.file);
  json.field("subject_title", scene.file.substr(scene.file.rfind('/') + 1));
  json.field("producer", scene.producer);
  json.field("ir_version", scene.ir_version);
  json.key("opset");
  if (scene.opset) json.value(*scene.opset);
  if (!scene.opset) json.null();
  json.field("nodes", scene.node_count);
  write_list(json, "inputs", scene.inputs, write_port);
  write_list(json, "outputs", scene.outputs, write_port);
  write_texts(json, "operators", scene.operators);
}

void add_items(Container& out, const results::SceneItems& items) {
  out.column("parent", items.parents);
  out.column("kind", items.kinds);
  out.column("op", items.operators);
  out.column("flags", items.flags);
  out.column("first_child", items.first_children);
  out.column("children", items.child_counts);
  out.column("order", items.orders);
  out.column("last", items.lasts);
  out.column("layer", items.layers);
  out.column("rank", items.ranks);
  out.column("x", items.x);
  out.column("y", items.y);
  out.column("w", items.widths);
  out.column("h", items.heights);
  out.column("cw", items.content_widths);
  out.column("ch", items.content_heights);
  out.column("repeat", items.repeats);
  out.column("macs", items.macs);
  out.column("params", items.params);
  out.column("bytes", items.bytes);
  out.column("name", items.names);
}

void add_lines(Container& out, const results::SceneLines& lines) {
  out.column("edge.value", lines.values);
  out.column("edge.from", lines.from);
  out.column("edge.to", lines.to);
  out.column("edge.bend_start", lines.bend_starts);
  out.column("edge.bend_count", lines.bend_counts);
  out.column("bend.x", lines.bends_x);
  out.column("bend.y", lines.bends_y);
}

void add_groups(Container& out, const results::Overlay& overlay) {
  std::vector<uint32_t> starts;
  std::vector<uint32_t> counts;
  std::vector<uint32_t> members;
  for (const results::OverlayGroup& group : overlay.groups) {
    starts.push_back(static_cast<uint32_t>(members.size()));
    counts.push_back(static_cast<uint32_t>(group.items.size()));
    members.insert(members.end(), group.items.begin(), group.items.end());
  }
  out.column("group.start", out.keep(std::move(starts)));
  out.column("group.count", out.keep(std::move(counts)));
  out.column("member.item", out.keep(std::move(members)));
}

void add_spans(Container& out, const results::Overlay& overlay) {
  std::vector<uint16_t> lanes;
  std::vector<double> starts;
  std::vector<double> lengths;
  std::vector<uint32_t> items;
  results::TextColumn texts;
  for (const results::OverlaySpan& span : overlay.spans) {
    lanes.push_back(span.lane);
    starts.push_back(span.start);
    lengths.push_back(span.length);
    items.push_back(span.item);
    texts.add(span.text);
  }
  out.column("span.lane", out.keep(std::move(lanes)));
  out.column("span.start", out.keep(std::move(starts)));
  out.column("span.length", out.keep(std::move(lengths)));
  out.column("span.item", out.keep(std::move(items)));
  out.column("span", out.keep(std::move(texts)));
}

void add_blocks(Container& out, const results::Overlay& overlay) {
  std::vector<uint32_t> starts;
  std::vector<uint32_t> ends;
  std::vector<uint32_t> items;
  std::vector<double> addresses;
  std::vector<double> bytes;
  results::TextColumn texts;
  for (const results::OverlayBlock& block : overlay.blocks) {
    starts.push_back(block.start);
    ends.push_back(block.end);
    items.push_back(block.item);
    addresses.push_back(block.address);
    bytes.push_back(block.bytes);
    texts.add(block.text);
  }
  out.column("block.start", out.keep(std::move(starts)));
  out.column("block.end", out.keep(std::move(ends)));
  out.column("block.item", out.keep(std::move(items)));
  out.column("block.address", out.keep(std::move(addresses)));
  out.column("block.bytes", out.keep(std::move(bytes)));
  out.column("block", out.keep(std::move(texts)));
}

}  // namespace

Container scene_container(const results::Scene& scene, uint64_t revision, Container::Numbers numbers) {
  Container out("scene", numbers);
  write_scene_head(out.head(), scene, revision);
  add_items(out, scene.items);
  out.column("chip.item", scene.chip_items);
  out.column("chip", scene.chips);
  out.column("value.name", scene.value_names);
  out.column("type", scene.types);
  out.column("value.type", scene.value_types);
  out.column("value.producer", scene.value_producers);
  out.column("value.rail", scene.rails);
  add_lines(out, scene.lines);
  out.column("use.node", scene.use_nodes);
  out.column("use.value", scene.use_values);
  out.column("use.slot", scene.use_slots);
  out.finish();
  return out;
}

Container overlay_container(const results::Overlay& overlay, uint64_t revision, Container::Numbers numbers) {
  Container out("overlay", numbers);
  out.head().field("revision", revision);
  formats::FieldWriter fields(out.head());
  results::Fields<results::Overlay>::of(fields, overlay);
  for (const results::OverlayColumn& column : overlay.columns) {
    out.column(column.side + "/" + column.field + (column.is_of_values ? "@value" : ""), column.numbers);
  }
  add_groups(out, overlay);
  add_spans(out, overlay);
  if (!overlay.blocks.empty()) add_blocks(out, overlay);
  out.finish();
  return out;
}

Container slice_container(const results::ValueSlice& slice) {
  Container out("slice");
  formats::FieldWriter fields(out.head());
  results::Fields<results::ValueSlice>::of(fields, slice);
  out.column("data", slice.cells);
  out.finish();
  return out;
}

}  // namespace assay::report
