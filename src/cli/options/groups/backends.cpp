#include "cli/options/groups/backends.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/groups/engine.h"
#include "cli/options/groups/ranks.h"
#include "cli/options/values.h"
#include "tasks/check.h"
#include "tasks/threads.h"

namespace assay::cli {
namespace {

constexpr std::string_view kPlan = "--trt-engine";

// `--ref` names the backend `ref`.
std::string_view without_dashes(std::string_view option) { return option.substr(std::min<size_t>(2, option.size())); }

// The backend that an option chooses; empty: none. Error (unsupported) for one that this build does not have.
std::string backend_of(std::string_view option) {
  if (option == kPlan) return tasks::plan_backend();
  const auto choices = backend_choices();
  const bool is_known = option.starts_with("--") && std::ranges::find(choices, without_dashes(option)) != choices.end();
  return std::string(is_known ? without_dashes(option) : "");
}

OptionRow flag(std::vector<std::string_view> names, std::string_view help, bool hidden = false) {
  return {.names = std::move(names), .arity = Arity::flag, .repeat = Repeat::count, .help = help, .hidden = hidden};
}

OptionRow of_environment(std::string_view name, std::string_view help) {
  return {.names = {name}, .repeat = Repeat::append, .metavar = "PYTHON", .help = help, .is_file = true};
}

// The backend that one use of an option chooses, with its environment; empty: none.
std::string backend_of(const Arguments::Occurrence& use) {
  const std::string_view name = canonical_name(*use.row);
  if (!name.ends_with('@')) return backend_of(name);
  const std::string& python = use.values.front();
  if (tasks::find_python(python).empty())
    fail(ErrorCode::usage, "{}: there is no Python `{}`", name, printable(python));
  return fmt::format("{}{}", without_dashes(name), python);
}

// The words of the command line for what a backend declares.
struct SettingWords {
  std::string option;
  std::string alias;
  exec::Setting declared;
};
struct SettingsWords {
  std::string backend;
  std::string title;
  std::string description;
  std::vector<SettingWords> settings;
};

std::vector<SettingsWords> make_settings_words() {
  std::vector<SettingsWords> all;
  for (tasks::BackendSettings& backend : tasks::backend_settings()) {
    SettingsWords words{backend.backend, backend.title, fmt::format("How {} is set up", backend.title), {}};
    words.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words.title[0])));
    for (exec::Setting& setting : backend.settings) {
      const auto option = [](std::string_view name) { return name.empty() ? "" : "--" + std::string(name); };
      words.settings.push_back({option(setting.name), option(setting.alias), std::move(setting)});
    }
    all.push_back(std::move(words));
  }
  return all;
}

// Rows of options refer to these for as long as the program runs.
const std::vector<SettingsWords>& settings_words() {
  static const std::vector<SettingsWords> words = make_settings_words();
  return words;
}

OptionRow row_of(const SettingWords& setting) {
  using Kind = exec::Setting::Kind;
  const Kind kind = setting.declared.kind;
  const bool is_list = setting.declared.is_list || kind == Kind::shapes || kind == Kind::input_files;
  OptionRow row{.names = {setting.option},
                .arity = is_list ? Arity::one_or_more : Arity::one,
                .choices = setting.declared.choices,
                .help = setting.declared.help};
  if (!setting.alias.empty()) row.names.emplace_back(setting.alias);
  if (kind == Kind::flag) row.arity = Arity::flag;
  if (kind == Kind::shapes) row.metavar = "NAME:[DIM,...]";
  if (kind == Kind::shapes) row.repeat = Repeat::append;
  row.hidden = setting.declared.is_ignored;
  row.is_output = kind == Kind::output_file;
  row.is_file = kind == Kind::input_file || kind == Kind::input_files || kind == Kind::updated_file || row.is_output;
  if (row.is_file) row.metavar = "FILE";
  return row;
}

OptionGroup group_of(const SettingsWords& words) {
  OptionGroup group{.title = words.title, .description = words.description, .rows = {}, .spellings = {}};
  for (const SettingWords& setting : words.settings) group.rows.push_back(row_of(setting));
  return group;
}

// Shapes are checked here, and passed on without names of dims and blanks.
std::vector<std::string> setting_values(const SettingWords& setting, const Arguments& arguments) {
  if (setting.declared.kind != exec::Setting::Kind::shapes) return arguments.values(setting.option);
  std::vector<std::string> shapes;
  bool is_first = true;
  for (const std::vector<std::string>& use : arguments.occurrences(setting.option)) {
    if (!is_first) shapes.emplace_back();
    is_first = false;
    for (const std::string& text : use) {
      if (text.ends_with(":auto")) continue;  // the type that the model says
      shapes.push_back(input_shape_text(parse_profile_shape(setting.option, text)));
    }
  }
  return shapes;
}

unsigned parse_threads(const Arguments& arguments) {
  if (arguments.value("--threads").empty()) return 0;  // not given, or the flag of `bench`
  const uint64_t threads = parse_count("--threads", arguments.value("--threads"), 1);
  const unsigned most = tasks::most_threads();
  if (threads > most) fail(ErrorCode::usage, "--threads must be at most {} on this machine, seen {}", most, threads);
  return static_cast<unsigned>(threads);
}

}  // namespace

OptionGroup backend_group(bool takes_plans) {
  OptionGroup group = {
      .title = "Backends",
      .description = "What runs the model; each may be named as often as wanted, in any order",
      .rows = {flag({"--ref", "--pluginref"}, "the reference interpreter: every operator, in plain loops"),
               flag({"--ref-fp64"}, "the same with every floating value carried in double from end to end"),
               flag({"--onnxrt"}, "ONNX Runtime, from the user's Python package or the system"),
               flag({"--openvino"}, "OpenVINO, from the user's Python package or the system"),
               of_environment("--onnxrt@",
                              "ONNX Runtime of another environment, by its Python or its folder, in a "
                              "process of its own: --onnxrt@old --onnxrt@new compares two releases"),
               of_environment("--openvino@", "likewise OpenVINO"),
               flag({"--engine", "--trt"},
                    "the built-in engine: operators merged, planned and tuned for this processor"),
               flag({"--tensorrt"}, "TensorRT, by the user's Python package (see --trt-package)"),
               flag({"--tf"},
                    "TensorFlow, by the user's Python package; of TFLite files also ai_edge_litert or "
                    "tflite_runtime"),
               {.names = {"--python"},
                .metavar = "FILE",
                .help = "the Python whose packages are used and that runs the user's scripts; default: the first "
                        "python3 on PATH",
                .is_file = true}},
  };
  if (takes_plans) {
    group.rows.push_back({.names = {kPlan},
                          .repeat = Repeat::append,
                          .metavar = "FILE",
                          .help = "the engine with a plan that `convert` built, beside what runs the model",
                          .is_file = true});
  }
  return group;
}

std::map<size_t, std::string> chosen_plans(const Arguments& arguments) {
  std::map<size_t, std::string> plans;
  size_t number = 0;
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    const std::string_view name = canonical_name(*use.row);
    if (name == kPlan) plans.emplace(number, use.values.front());
    if (!backend_of(use).empty()) ++number;
  }
  return plans;
}

// `--device cuda,cpu`: the engine is a side on each of them.
std::vector<std::string> chosen_devices(const Arguments& arguments) {
  std::vector<std::string> devices;
  if (!arguments.knows("--device") || !arguments.has("--device")) return devices;
  const std::string list = arguments.value("--device");
  for (const std::string_view device : split(list, ',')) devices.emplace_back(device);
  return devices;
}

std::vector<std::string> chosen_backends(const Arguments& arguments) {
  const bool are_of_ranks = has_shard(arguments);  // the devices
  std::vector<std::string> names;
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    const std::string name = backend_of(use);
    if (name.empty()) continue;
    const std::vector<std::string> devices = chosen_devices(arguments);
    if (name != tasks::plan_backend() || devices.size() < 2 || (are_of_ranks && names.empty())) {
      names.push_back(name);
    } else if (are_of_ranks) {
      names.push_back(fmt::format("{}:{}", name, devices.front()));
    } else {
      for (const std::string& device : devices) names.push_back(fmt::format("{}:{}", name, device));
    }
  }
  return with_shard(std::move(names), arguments);
}

std::span<const std::string_view> backend_choices() {
  static const std::vector<std::string> names = tasks::backend_names();
  static const std::vector<std::string_view> choices(names.begin(), names.end());
  return choices;
}

std::map<std::string, std::string> peer_words() {
  std::map<std::string, std::string> words;
  for (const OptionRow& row : backend_group().rows) {
    if (row.names.size() > 1) words.emplace(without_dashes(row.names[0]), without_dashes(row.names[1]));
  }
  return words;
}

exec::LibrarySearch library_search(const Arguments& arguments) {
  exec::LibrarySearch search;
  if (!arguments.knows("--python") || !arguments.has("--python")) return search;
  search.python = arguments.value("--python");
  if (tasks::find_python(search.python).empty()) {
    fail(ErrorCode::usage, "--python: there is no Python `{}`", printable(search.python));
  }
  return search;
}

std::vector<OptionGroup> backend_settings_groups() {
  std::vector<OptionGroup> groups;
  for (const SettingsWords& words : settings_words()) groups.push_back(group_of(words));
  return groups;
}

OptionGroup engine_settings_group(std::initializer_list<std::string_view> left_out) {
  OptionGroup group = group_of(*std::ranges::find(settings_words(), tasks::plan_backend(), &SettingsWords::backend));
  std::erase_if(group.rows,
                [&](const OptionRow& row) { return std::ranges::find(left_out, row.names[0]) != left_out.end(); });
  return group;
}

namespace {

const SettingsWords& tensorrt_words() {
  return *std::ranges::find(settings_words(), "tensorrt", &SettingsWords::backend);
}

}  // namespace

OptionGroup without_python(OptionGroup group) {
  std::erase_if(group.rows, [](const OptionRow& row) { return canonical_name(row) == "--python"; });
  return group;
}

OptionGroup tensorrt_group(std::string_view help) {
  OptionGroup group = group_of(tensorrt_words());
  std::erase_if(group.rows, [](const OptionRow& row) { return row.is_file; });
  const OptionGroup all = backend_group();
  const auto python = std::ranges::find(all.rows, "--python", &canonical_name);
  group.rows.insert(group.rows.begin(), {flag({"--tensorrt"}, help), *python});
  return group;
}

std::vector<std::string> unused_settings(const Arguments& arguments, std::span<const std::string> backends) {
  const auto runs = [&](const std::string& name) {
    return std::ranges::any_of(backends, [&](const std::string& chosen) {
      return std::string_view(chosen).substr(0, chosen.find_first_of(":@")) == name;
    });
  };
  std::vector<std::string> notes;
  for (const SettingsWords& words : settings_words()) {
    if (words.backend == tasks::plan_backend() || runs(words.backend)) continue;
    for (const SettingWords& setting : words.settings) {
      if (arguments.knows(setting.option) && arguments.has(setting.option))
        notes.push_back(fmt::format("`{}` is not used: {} does not run", setting.option, words.title));
    }
  }
  return notes;
}

OptionGroup limits_group() {
  return {
      .title = "Limits",
      .description = "What a run may take",
      .rows = {{.names = {"--threads"}, .metavar = "N", .help = "threads that work; default: the cores it may use"},
               {.names = {"--max-memory"},
                .metavar = "SIZE",
                .help = "most memory that values may take, as 512M or 8G; default: half of what is available"},
               {.names = {"--max-steps"},
                .metavar = "N",
                .help = "most iterations of loops and calls of functions in a run of the reference; default: ten "
                        "million, a million in `check lint`"},
               {.names = {"--max-work"},
                .metavar = "N",
                .help = "most elements and multiply-accumulates in a run of the reference; default: ten trillion, a "
                        "hundred billion in `check lint`"}},
  };
}

exec::SessionOptions session_options(const Arguments& arguments) {
  exec::SessionOptions options;
  options.threads = parse_threads(arguments);
  if (arguments.has("--max-memory")) {
    options.max_memory_bytes = parse_size("--max-memory", arguments.value("--max-memory"));
  }
  if (arguments.has("--max-steps")) options.max_steps = parse_count("--max-steps", arguments.value("--max-steps"), 1);
  if (arguments.has("--max-work")) options.max_work = parse_count("--max-work", arguments.value("--max-work"), 1);
  const exec::SessionOptions library = library_options(arguments);
  options.search = library.search;
  options.settings = library.settings;
  set_rank_settings(arguments, options.settings);
  return options;
}

exec::SessionOptions library_options(const Arguments& arguments) {
  exec::SessionOptions options;
  options.search = library_search(arguments);
  for (const SettingsWords& words : settings_words()) {
    for (const SettingWords& setting : words.settings) {
      const bool is_given = arguments.knows(setting.option) && arguments.has(setting.option);
      if (is_given) options.settings.set(std::string(setting.declared.name), setting_values(setting, arguments));
    }
  }
  return options;
}

}  // namespace assay::cli
