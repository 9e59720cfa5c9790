#include "backends/ranks/rank_models.h"

#include <algorithm>
#include <charconv>

#include <fmt/ranges.h>

#include "backends/ranks/fused_attention.h"
#include "base/error.h"
#include "base/text.h"
#include "ir/edit.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "onnx/load.h"
#include "ops/write_types.h"
#include "surgery/shard/tensor_parallel.h"

namespace assay::backends {
namespace {

using Kind = ShardWords::Kind;

constexpr int64_t kMostRanks = 256;

// Values of the main graph, by name.
std::map<std::string_view, ir::ValueId> names_of(const ir::Model& model) {
  std::map<std::string_view, ir::ValueId> names;
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    const ir::Value& value = model[ir::ValueId{i}];
    if (value.alive && value.graph == model.main_graph() && value.name != ir::kEmpty)
      names.emplace(model.text(value.name), ir::ValueId{i});
  }
  return names;
}

void sort_nodes(ir::Model& model) {
  ir::TopologicalSort sorter(model);
  const std::optional<ir::GraphOrder> order = sorter.run(model.main_graph());
  if (!order) fail(ErrorCode::parse, "the graph has a cycle: {}", ir::describe(model, sorter.cycle().front()));
  ir::Edit(model).order_nodes(*order);
}

// A value that the sharder has replaced is looked for by its name: an output has kept it.
void find_values(const ir::Model& whole, const ir::Model& sharded,
                 const std::map<ir::ValueId, surgery::SplitValue>& splits,
                 const std::map<ir::ValueId, ir::ValueId>& sums, RankModels& made) {
  const std::map<std::string_view, ir::ValueId> there = names_of(sharded);
  for (const auto& [name, value] : names_of(whole)) {
    const auto found = there.find(name);
    if (found == there.end()) continue;
    RankValue place{.name = std::string(name), .split = {}};
    if (found->second == value) {
      if (const auto sum = sums.find(value); sum != sums.end()) place.name = sharded.text(sharded[sum->second].name);
      if (const auto split = splits.find(value); split != splits.end()) place.split = split->second;
    }
    made.values.emplace(name, std::move(place));
  }
}

RankModels split_tensors(const ir::Model& whole, int64_t count) {
  ir::Model model = whole.copy();
  sort_nodes(model);
  formats::ShardHints hints;
  hints.parallelism = "TP";
  hints.nb_rank = count;
  const surgery::TensorSharding done = surgery::shard_tensors(model, hints);
  RankModels made;
  for (int64_t rank = 0; rank < count; ++rank) {
    ir::Model own = model.copy();
    surgery::set_rank(own, done, rank);
    made.models.push_back(std::make_shared<const ir::Model>(std::move(own)));
  }
  find_values(whole, model, done.splits, done.sums, made);
  for (const ir::ValueId input : whole[whole.main_graph()].inputs) {
    const auto split = done.splits.find(input);
    if (split != done.splits.end()) made.inputs.emplace(whole.text(whole[input].name), split->second);
  }
  return made;
}

RankModels split_sequence(const ir::Model& whole, int64_t count) {
  ir::Model model = whole.copy();
  sort_nodes(model);
  surgery::HintOptions options;
  options.base.group_size = options.base.nb_rank = count;
  options.follows_inputs = options.follows_outputs = options.follows_k = options.follows_v = true;
  const formats::ShardHints hints = surgery::make_shard_hints(model, options);
  if (hints.attention_layers.empty()) {
    fail(ErrorCode::usage, "the sequence cannot be split: the model has no attention layer");
  }
  const surgery::Sharding done = surgery::shard(model, hints);
  if (!done.misfit.empty()) fail(ErrorCode::usage, "the sequence cannot be split: {}", done.misfit);
  RankModels made;
  find_values(whole, model, done.splits, {}, made);
  made.models.assign(static_cast<size_t>(count), std::make_shared<const ir::Model>(std::move(model)));
  return made;
}

// True if the first dim is there, and not written as a number.
bool has_open_batch(const exec::Port& port) {
  return port.type && port.type->ranked && !port.type->dims.empty() && !port.type->dims[0].size;
}

RankModels copy_model(const ir::Model& whole, int64_t count) {
  RankModels made;
  made.models.assign(static_cast<size_t>(count), std::make_shared<const ir::Model>(whole.copy()));
  const exec::Signature signature = exec::signature_of(whole);
  for (const exec::Port& input : signature.inputs) {
    if (has_open_batch(input)) made.inputs.emplace(input.name, surgery::SplitValue{});
  }
  if (made.inputs.empty())
    fail(ErrorCode::usage, "copies divide the batch, and no input has an open first dim to be divided");
  for (const exec::Port& output : signature.outputs) {
    RankValue place{.name = output.name, .split = {}};
    if (has_open_batch(output)) place.split.emplace();
    made.values.emplace(output.name, std::move(place));
  }
  return made;
}

// Tells collectives of all ranks how many there are.
void set_rank_count(ir::Model& model, int64_t count) {
  ir::Edit edit(model);
  const ir::Symbol name = edit.intern("nb_rank");
  for (const ir::NodeId node : ir::live_nodes(model)) {
    if (model.text(model[node].op) != "DistCollective") continue;
    const auto number = [&](std::string_view attribute) {
      const ir::Attribute* const found = model.find_attribute(model[node], attribute);
      return found != nullptr && found->type() == ir::AttributeType::integer ? found->integer() : 0;
    };
    const int64_t written = number("nb_rank") > 1 ? number("nb_rank") : number("group_size");
    if (written > 1 && written != count && number("group_size") == 0) {
      fail(ErrorCode::usage, "{} is made for {} ranks, and {} run", ir::describe(model, node), written, count);
    }
    edit.set_attribute(node, ir::Attribute::of(name, count));
  }
}

std::string names_in(const std::vector<exec::Port>& ports) {
  std::vector<std::string> names;
  for (const exec::Port& port : ports) names.push_back(fmt::format("`{}`", printable(port.name)));
  return join(names, ", ");
}

void check_same_ports(const exec::Signature& first, const exec::Signature& other, size_t rank) {
  const auto check = [&](std::string_view kind, const std::vector<exec::Port>& a, const std::vector<exec::Port>& b) {
    if (std::ranges::equal(a, b, {}, &exec::Port::name, &exec::Port::name)) return;
    fail(ErrorCode::usage, "rank {} has another model: its {} are {}, those of rank 0 {}", rank, kind, names_in(b),
         names_in(a));
  };
  check("inputs", first.inputs, other.inputs);
  check("outputs", first.outputs, other.outputs);
}

RankModels take_models(const ir::Model& first, int64_t count, const std::vector<std::string>& paths) {
  RankModels made;
  for (const auto& [name, value] : names_of(first)) {
    made.values.emplace(name, RankValue{.name = std::string(name), .split = {}});
  }
  ir::Model own = first.copy();
  set_rank_count(own, count);
  spell_fused_attention(own, count);
  made.models.push_back(std::make_shared<const ir::Model>(std::move(own)));
  for (const std::string& path : paths) {
    Diagnostics findings;
    ir::Model model = onnx::load(path, {}, findings);
    check_same_ports(exec::signature_of(first), exec::signature_of(model), made.models.size());
    set_rank_count(model, count);
    spell_fused_attention(model, count);
    made.models.push_back(std::make_shared<const ir::Model>(std::move(model)));
  }
  if (paths.empty()) made.models.resize(static_cast<size_t>(count), made.models.front());
  if (made.models.size() != static_cast<size_t>(count))
    fail(ErrorCode::usage, "{} ranks are asked for, and {} models given", count, made.models.size());
  return made;
}

// A dim of a shape, counted from its beginning; nullopt: there is none.
std::optional<size_t> axis_of(const surgery::SplitValue& split, const tensor::Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = split.dim < 0 ? rank + split.dim : split.dim;
  return axis >= 0 && axis < rank ? std::optional(static_cast<size_t>(axis)) : std::nullopt;
}

}  // namespace

ShardWords ShardWords::parse(std::string_view text) {
  static constexpr std::pair<std::string_view, Kind> kKinds[] = {{"tp", Kind::tensors},
                                                                 {"cp", Kind::sequence},
                                                                 {"copies", Kind::copies},
                                                                 {"ranks", Kind::given},
                                                                 {"each", Kind::each}};
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view number = text.substr(std::min(colon + 1, text.size()));
  ShardWords words;
  const std::from_chars_result read = std::from_chars(number.data(), number.data() + number.size(), words.count);
  const bool is_number = !number.empty() && read.ec == std::errc() && read.ptr == number.data() + number.size();
  const auto kind = std::ranges::find(kKinds, text.substr(0, colon), &std::pair<std::string_view, Kind>::first);
  if (kind == std::end(kKinds) || !is_number) {
    fail(ErrorCode::usage, "`{}`: expected tp:N, cp:N, copies:N or ranks:N, N being the number of ranks",
         printable(text));
  }
  if (words.count < 2 || words.count > kMostRanks)
    fail(ErrorCode::usage, "`{}`: expected from 2 to {} ranks", printable(text), kMostRanks);
  words.kind = kind->second;
  return words;
}

RankModels make_rank_models(const ir::Model& model, const ShardWords& words, const std::vector<std::string>& paths) {
  switch (words.kind) {
    case Kind::tensors:
      return split_tensors(model, words.count);
    case Kind::sequence:
      return split_sequence(model, words.count);
    case Kind::copies:
      return copy_model(model, words.count);
    default:
      return take_models(model, words.count, paths);
  }
}

tensor::Datum part_of(const tensor::Datum& whole, const surgery::SplitValue& split, std::string_view name, int64_t rank,
                      int64_t count) {
  if (!whole.is_tensor()) fail(ErrorCode::unsupported, "`{}` is no tensor: ranks cannot share it", printable(name));
  const tensor::Tensor& tensor = whole.tensor();
  const std::optional<size_t> axis = axis_of(split, tensor.shape());
  if (!axis || tensor.shape()[*axis] % (count * split.groups) != 0) {
    fail(ErrorCode::usage, "{} ranks cannot share dim {} of `{}` evenly: its shape is [{}]", count, split.dim,
         printable(name), fmt::join(tensor.shape(), ", "));
  }
  const surgery::Part part = {.axis = *axis, .index = rank, .count = count, .groups = split.groups};
  return tensor::Datum(surgery::slice_of(tensor, part), whole.declared());
}

tensor::Datum joined(const std::vector<tensor::Datum>& parts, const surgery::SplitValue& split, std::string_view name) {
  for (const tensor::Datum& part : parts) {
    if (part.is_tensor() && part.tensor().shape() == parts[0].tensor().shape()) continue;
    fail(ErrorCode::shape, "ranks have `{}` in parts of other shapes", printable(name));
  }
  const tensor::Tensor& first = parts[0].tensor();
  const std::optional<size_t> axis = axis_of(split, first.shape());
  const uint64_t bits = tensor::bit_width(first.dtype());
  if (!axis || bits % 8 != 0 || first.shape()[*axis] % split.groups != 0)
    fail(ErrorCode::unsupported, "parts of `{}` cannot be put together", printable(name));
  tensor::Shape shape = first.shape();
  auto rows = static_cast<uint64_t>(split.groups);
  for (size_t i = 0; i < *axis; ++i) rows *= static_cast<uint64_t>(shape[i]);
  shape[*axis] *= static_cast<int64_t>(parts.size());
  const uint64_t row_bytes = rows == 0 ? 0 : first.bytes().size() / rows;
  std::vector<std::byte> bytes;
  bytes.reserve(first.bytes().size() * parts.size());
  for (uint64_t row = 0; row < rows; ++row) {
    for (const tensor::Datum& part : parts) {
      const tensor::Bytes run = part.tensor().bytes().subspan(row * row_bytes, row_bytes);
      bytes.insert(bytes.end(), run.begin(), run.end());
    }
  }
  return {tensor::Tensor(first.dtype(), std::move(shape), tensor::make_owned(std::move(bytes))), parts[0].declared()};
}

}  // namespace assay::backends
