#include "cli/options/groups/shard.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

int64_t integer_of(const Arguments& arguments, std::string_view option) {
  return parse_integer(option, arguments.value(option));
}

std::optional<int64_t> rank_of(const Arguments& arguments, std::string_view option) {
  if (!arguments.has(option)) return std::nullopt;
  const int64_t rank = integer_of(arguments, option);
  if (rank < 1 || rank > 64) fail(ErrorCode::usage, "{}: expected a rank from 1 to 64, found {}", option, rank);
  return rank;
}

int64_t index_of(const Arguments& arguments, std::string_view option) {
  const int64_t index = integer_of(arguments, option);
  if (index < 0) fail(ErrorCode::usage, "{}: expected a dim of at least 0, found {}", option, index);
  return index;
}

std::vector<int64_t> integers_of(const Arguments& arguments, std::string_view option) {
  std::vector<int64_t> values;
  for (const std::string& word : arguments.values(option)) values.push_back(parse_integer(option, word));
  return values;
}

std::optional<std::vector<int64_t>> shuffle_of(const Arguments& arguments, std::string_view option) {
  std::vector<int64_t> order = integers_of(arguments, option);
  if (order.empty()) return std::nullopt;
  return order;
}

OptionRow number_row(std::string_view name, std::string_view otherwise, std::string_view help) {
  return {.names = {name}, .metavar = "N", .default_value = otherwise, .help = help};
}

OptionRow order_row(std::string_view name, std::string_view help) {
  return {.names = {name}, .arity = Arity::any, .metavar = "N", .help = help};
}

}  // namespace

OptionGroup shard_group() {
  return {
      .title = "Sharding",
      .description = "How a model is split over devices",
      .rows = {{.names = {"--parallelism"},
                .choices = {"CP", "TP"},
                .default_value = "CP",
                .help = "CP splits the sequence; TP splits weights over --nb-rank ranks",
                .details = "TP uses no other option of this group but --gpus, --groups, --root."},
               number_row("--root", "-1", "the device that collectives start from; -1: none"),
               number_row("--gpus", "0", "how many devices share the work; 0: all"),
               order_row("--groups", "the devices of each group, one group after the other"),
               {.names = {"--cp-type"},
                .choices = {"native", "fused", "ring_attention"},
                .default_value = "native",
                .help = "native gathers K and V; fused replaces each layer by one Attention node",
                .details = "ring_attention, of older versions, leaves K and V split."},
               {.names = {"--no-suggest-io"},
                .arity = Arity::flag,
                .help = "leave inputs and outputs out of the hints"},
               number_row("--i-idx", "0", "the sequence dim of inputs that have no dim sequence_length or seq_len"),
               number_row("--o-idx", "0", "the same for outputs"),
               number_row("--k-idx", "0", "the sequence dim of K, as the first MatMul reads it"),
               number_row("--v-idx", "0", "the sequence dim of V, as the second MatMul reads it"),
               number_row("--i-rank", "", "the rank of inputs whose rank is not known"),
               number_row("--o-rank", "", "the same for outputs"),
               number_row("--kv-rank", "", "the same for K and V"),
               {.names = {"--reduce-op", "--scatter-op"},
                .choices = {"sum", "prod", "min", "max", "avg"},
                .default_value = "max",
                .help = "how scattered inputs are reduced; all devices have the same, so max keeps them"},
               {.names = {"--attention-pattern"},
                .choices = {"0", "1"},
                .default_value = "0",
                .help = "1: only layers whose Q and K are both multiplied by a scale, by their names before that"},
               order_row("--q-shuffle", "with fused: the order of dims in which Q is read"),
               order_row("--k-shuffle", "the same for K"),
               order_row("--v-shuffle", "the same for V"),
               {.names = {"--is-causal"}, .arity = Arity::flag, .help = "with fused: later positions are masked"},
               number_row("--nb-rank", "1",
                          "the number of ranks, for collectives and fused nodes, and of models that TP makes")},
  };
}

surgery::HintOptions hint_options(const Arguments& arguments) {
  surgery::HintOptions options;
  options.base.parallelism = arguments.value("--parallelism");
  options.base.root = integer_of(arguments, "--root");
  options.base.group_size = integer_of(arguments, "--gpus");
  options.base.groups = integers_of(arguments, "--groups");
  options.base.nb_rank = integer_of(arguments, "--nb-rank");
  options.base.reduce_op = arguments.value("--reduce-op");
  options.base.k_seq_len_idx = index_of(arguments, "--k-idx");
  options.base.v_seq_len_idx = index_of(arguments, "--v-idx");
  options.base.kv_rank = rank_of(arguments, "--kv-rank");
  options.is_scaled = arguments.value("--attention-pattern") == "1";
  options.suggests_io = !arguments.flag("--no-suggest-io");
  options.input_index = index_of(arguments, "--i-idx");
  options.output_index = index_of(arguments, "--o-idx");
  options.input_rank = rank_of(arguments, "--i-rank");
  options.output_rank = rank_of(arguments, "--o-rank");
  const std::string type = arguments.value("--cp-type");
  options.layer.gather_kv = type == "native";
  if (type == "fused") {
    options.layer.replace = formats::FusedAttention{.is_causal = arguments.flag("--is-causal"),
                                                    .q_shuffle = shuffle_of(arguments, "--q-shuffle"),
                                                    .k_shuffle = shuffle_of(arguments, "--k-shuffle"),
                                                    .v_shuffle = shuffle_of(arguments, "--v-shuffle"),
                                                    .nb_rank = options.base.nb_rank};
  }
  formats::ShardHints checked = options.base;
  checked.attention_layers.push_back(options.layer);
  surgery::check_shard_hints(checked);
  return options;
}

}  // namespace assay::cli
