#include "cli/options/groups/ranks.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/values.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

constexpr std::string_view kShard = "--shard";
constexpr std::string_view kTimeout = "--rank-timeout";
constexpr std::string_view kTransport = "--rank-transport";
constexpr std::string_view kModels = "--rank-models";
constexpr std::string_view kRanks = "ranks";

}  // namespace

// Other commands have an option of that name, which means something else.
bool has_shard(const Arguments& arguments) { return arguments.knows(kTimeout) && arguments.has(kShard); }

OptionGroup ranks_group() {
  return {
      .title = "Ranks",
      .description = "A model that is run in parts, by a thread each",
      .rows = {
          {.names = {kShard},
           .metavar = "KIND:N",
           .help = "how the first backend (--engine, --ref, --ref-fp64) runs the model on N ranks: tp:N splits "
                   "weights, cp:N the sequence, copies:N the batch; ranks:N runs a model that is sharded "
                   "already; `ranks` with several models: one for each rank",
           .details = "Other backends run the whole model, so that the ranks are compared with it. With "
                      "--device A,B,... each rank has a device."},
          {.names = {kModels},
           .arity = Arity::one_or_more,
           .metavar = "FILE",
           .help = "with ranks:N: the models of the ranks behind the first one, which may also stand behind MODEL "
                   "with --shard ranks",
           .is_file = true},
          {.names = {kTransport},
           .choices = {"peers", "nccl"},
           .default_value = "peers",
           .help =
               "how ranks on cards exchange elements: by kernels that read and write the memory of other cards, or, "
               "above 512 KB and where cards cannot read it, by NCCL of the user's Python or the system"},
          {.names = {kTimeout},
           .metavar = "SECONDS",
           .default_value = "120",
           .help = "how long ranks wait for one that does not come to a collective"}}};
}

Arguments with_models_of_ranks(const Arguments& arguments) {
  if (!has_shard(arguments) || arguments.value(kShard) != kRanks) return arguments;
  const std::vector<std::string> models = arguments.values("model_file");
  if (models.size() < 2) {
    fail(ErrorCode::usage, "{} {}: expected the models of all ranks, or {}:N for one model that N ranks run", kShard,
         kRanks, kRanks);
  }
  return arguments.with("model_file", {models.front()})
      .with(kShard, {fmt::format("{}:{}", kRanks, models.size())})
      .with(kModels, {models.begin() + 1, models.end()});
}

std::vector<std::string> with_shard(std::vector<std::string> backends, const Arguments& arguments) {
  const bool has_models = arguments.knows(kModels) && arguments.has(kModels);
  if (has_models && !(has_shard(arguments) && arguments.value(kShard).starts_with(kRanks)))
    fail(ErrorCode::usage, "{} needs {} {}:N", kModels, kShard, kRanks);
  if (!has_shard(arguments)) return backends;
  if (backends.empty()) fail(ErrorCode::usage, "{} needs a backend: --engine, --ref, ...", kShard);
  if (backends.front().find('@') != std::string::npos)
    fail(ErrorCode::unsupported, "{}: the library of another environment runs no ranks", kShard);
  const std::string words = arguments.value(kShard);
  constexpr std::array<std::string_view, 4> kKinds = {"tp", "cp", "copies", kRanks};
  const size_t colon = words.find(':');
  if (colon == std::string::npos || std::ranges::find(kKinds, words.substr(0, colon)) == kKinds.end())
    fail(ErrorCode::usage, "{}: expected tp:N, cp:N, copies:N or ranks:N, seen `{}`", kShard, printable(words));
  for (size_t i = 0; i < backends.size(); ++i) {
    if (i == 0 || words.starts_with(kRanks)) backends[i] += ":" + words;
  }
  try {
    for (const std::string& backend : backends) static_cast<void>(tasks::has_plans(backend));
  } catch (Error& error) {
    throw Error(error).about("shard");
  }
  return backends;
}

void set_rank_settings(const Arguments& arguments, exec::Settings& settings) {
  if (!has_shard(arguments)) return;
  const double seconds = parse_number(kTimeout, arguments.value(kTimeout));
  if (!(seconds > 0 && seconds <= 1e6))
    fail(ErrorCode::usage, "{}: expected seconds above 0, seen `{}`", kTimeout, printable(arguments.value(kTimeout)));
  settings.set("rank-timeout", {fmt::format("{}", seconds)});
  settings.set("rank-transport", {arguments.value(kTransport)});
  if (arguments.has(kModels)) settings.set("rank-models", arguments.values(kModels));
}

}  // namespace assay::cli
