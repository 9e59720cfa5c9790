#include "cli/sweep/request.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/compare.h"
#include "cli/options/groups/data.h"
#include "cli/options/groups/logging.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

// Options that do not decide the result of a unit, or stand in its key by themselves.
constexpr std::array<std::string_view, 18> kElsewhere = {
    "--models",  "--run",    "--vary",        "--data",   "--on",         "--jobs",
    "--shard",   "--limit",  "--sample",      "--output", "--shard-size", "--timeout",
    "--retries", "--python", "--serve-units", "--help",   "plan",         "--iterations"};
constexpr std::array<std::string_view, 5> kWithoutMeaning = {"--fail-fast", "--match", "--match-by", "--strict-outputs",
                                                             "--kl-divergence"};

// `fp16,int8` as two values.
std::vector<std::string> listed(const Arguments& arguments, std::string_view option) {
  std::vector<std::string> words;
  for (const std::string& text : arguments.values(option)) {
    for (const std::string_view word : split(text, ',')) {
      if (!word.empty()) words.emplace_back(word);
    }
  }
  return words;
}

double percent(const Arguments& arguments) {
  const std::string text = arguments.value("--sample");
  const std::string_view digits = std::string_view(text).substr(0, text.size() - (text.ends_with('%') ? 1 : 0));
  const double share = parse_number("--sample", digits);
  if (!(share > 0 && share <= 100))
    fail(ErrorCode::usage, "--sample: expected a share up to 100%, seen `{}`", printable(text));
  return share;
}

std::vector<double> numbers(const Arguments& arguments, std::string_view option) {
  std::vector<double> all;
  for (const std::string& text : listed(arguments, option)) all.push_back(parse_number(option, text));
  return all;
}

tasks::ImageRules image_rules(const Arguments& arguments) {
  tasks::ImageRules rules;
  rules.has_channels_last = arguments.value("--image-layout") == "NHWC";
  if (arguments.has("--image-scale")) rules.scale = parse_number("--image-scale", arguments.value("--image-scale"));
  rules.mean = numbers(arguments, "--image-mean");
  rules.deviation = numbers(arguments, "--image-std");
  if (std::ranges::find(rules.deviation, 0.0) != rules.deviation.end())
    fail(ErrorCode::usage, "--image-std: a deviation of 0 cannot be divided by");
  return rules;
}

std::string digest_note(const std::string& value) {
  const size_t colon = value.rfind(':');
  for (const std::string& path : {value, value.substr(0, colon)}) {
    if (is_file(path)) return " " + tasks::digest_of_file(path);
  }
  return "";
}

bool is_logging(std::string_view name) {
  const OptionGroup group = logging_group();
  return std::ranges::any_of(group.rows, [&](const OptionRow& row) { return canonical_name(row) == name; });
}

// Options that decide results, with digests of files that they name.
std::string deciding_options(const Arguments& arguments) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    const std::string name(canonical_name(*use.row));
    const bool is_elsewhere = std::ranges::find(kElsewhere, name) != kElsewhere.end();
    if (is_elsewhere || use.row->is_output || is_logging(name)) continue;
    std::string text;
    for (const std::string& value : use.values) text += fmt::format(" {}{}", value, digest_note(value));
    lines.emplace_back(name, text);
  }
  std::ranges::stable_sort(lines, {}, &std::pair<std::string, std::string>::first);
  std::string all;
  for (const auto& [name, text] : lines) all += fmt::format("{}{}\n", name, text);
  return all;
}

// The command as workers get it: without what it prints and writes besides results.
std::vector<std::string> worker_words(const Arguments& arguments) {
  std::vector<std::string> words = {"sweep"};
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    const std::string_view name = canonical_name(*use.row);
    if (use.row->is_output || is_logging(name)) continue;
    words.emplace_back(name);
    words.insert(words.end(), use.values.begin(), use.values.end());
  }
  words.emplace_back("--serve-units");
  return words;
}

double timeout(const Arguments& arguments) {
  if (!arguments.has("--timeout")) return 0;
  const double seconds = parse_number("--timeout", arguments.value("--timeout"));
  if (!(seconds > 0))
    fail(ErrorCode::usage, "--timeout: expected seconds above 0, seen `{}`", arguments.value("--timeout"));
  return seconds;
}

void read_work(const Arguments& arguments, tasks::SweepRequest& request) {
  request.timeout_seconds = timeout(arguments);
  request.retries = parse_count("--retries", arguments.value("--retries"));
  request.jobs = arguments.has("--jobs") ? parse_count("--jobs", arguments.value("--jobs"), 1) : 0;
  request.engine = arguments.value("--on");
  request.part = with_frame([] { return "--shard"; },
                            [&] {
                              return sweep::parse_share(arguments.value("--shard"),
                                                        [](const char* name) { return std::getenv(name); });
                            });
}

void read_data(const Arguments& arguments, tasks::SweepRequest& request) {
  request.data = arguments.value("--data");
  request.images = image_rules(arguments);
  request.shard_size = parse_count("--shard-size", arguments.value("--shard-size"), 1);
  if (arguments.has("--limit")) request.most_samples = parse_count("--limit", arguments.value("--limit"), 1);
  if (arguments.has("--sample")) request.share = percent(arguments);
  request.generated = generate_options(arguments);
  request.iterations = parse_count("--iterations", arguments.value("--iterations"), 1);
  request.casts = arguments.flag("--cast-inputs");
  request.output = arguments.value("--judged-output");
  request.label = arguments.value("--label");
}

OptionGroup work_group() {
  return {
      .title = "Work",
      .description = "Where and how units are run",
      .rows = {{.names = {"--on"},
                .metavar = "ENGINE",
                .default_value = "local",
                .help = "what runs units: `local`, processes of this machine; `ray` or `ray:ADDRESS`, actors of Ray, "
                        "by the Python of --python"},
               {.names = {"--jobs"}, .metavar = "N", .help = "how many workers; default: as many as there are cores"},
               {.names = {"--shard"},
                .metavar = "I/N",
                .help = "do one share of N, counted from 0; `auto` or `auto/N`: as the variables of Slurm, MPI or "
                        "Kubernetes say; default: as those of Slurm or MPI say"},
               {.names = {"--timeout"},
                .metavar = "SECONDS",
                .help = "the longest that loading a model, making a session or a run may take"},
               {.names = {"--retries"},
                .metavar = "N",
                .default_value = "1",
                .help = "how often a unit is run again that died, timed out or lacked memory"},
               {.names = {"--serve-units"}, .metavar = "FD", .help = "", .hidden = true}}};
}

OptionGroup data_set_group() {
  return {.title = "Data",
          .description = "The samples that all models are run on",
          .rows = {
              {.names = {"--data"},
               .metavar = "DATA",
               .help = "a Python loader FILE.py[:FUNCTION], a folder of .npz or of .png files, or a file of inputs; "
                       "default: generated inputs",
               .details = "What a sample has besides inputs of the model are labels.",
               .is_file = true},
              {.names = {"--iterations", "--iters"},
               .metavar = "N",
               .default_value = "1",
               .help = "number of generated samples"},
              {.names = {"--limit"}, .metavar = "N", .help = "take the first N samples"},
              {.names = {"--sample"},
               .metavar = "P%",
               .help = "take this share of models and shards of data, always the same ones"},
              {.names = {"--shard-size"}, .metavar = "N", .default_value = "64", .help = "samples in a unit of work"},
              {.names = {"--cast-inputs"},
               .arity = Arity::flag,
               .help = "convert samples to the types that a model declares"},
              {.names = {"--label"},
               .metavar = "NAME",
               .help = "the label that metrics use; default: `label`, or the only one"},
              {.names = {"--image-layout"},
               .choices = {"NCHW", "NHWC"},
               .default_value = "NCHW",
               .help = "of pictures as inputs"},
              {.names = {"--image-scale"}, .metavar = "NUMBER", .help = "factor for bytes of pictures; default: 1/255"},
              {.names = {"--image-mean"},
               .arity = Arity::one_or_more,
               .metavar = "NUMBER",
               .help = "subtracted from each channel after that"},
              {.names = {"--image-std"},
               .arity = Arity::one_or_more,
               .metavar = "NUMBER",
               .help = "divides each channel at last"}}};
}

}  // namespace

std::vector<OptionGroup> sweep_groups() {
  OptionGroup sweep{
      .title = "Sweep",
      .description = "What is run; a plan has the same words without dashes",
      .rows = {
          {.names = {"--models"},
           .arity = Arity::one_or_more,
           .metavar = "PATTERN",
           .help = "models: files, folders, or patterns as 'zoo/**/*.onnx'",
           .is_file = true},
          {.names = {"--run"},
           .arity = Arity::one_or_more,
           .metavar = "BACKEND",
           .help = "what runs them: onnxrt, openvino, engine, ref, ref-fp64, tensorrt, with settings as "
                   "engine:fp16, of another environment as onnxrt@PYTHON; the first is the reference"},
          {.names = {"--vary"},
           .arity = Arity::one_or_more,
           .metavar = "VARIANT",
           .help =
               "forms of each model besides itself, compared with it: fp16, bf16, int8, fp8, weights-TYPE (int8, "
               "int4, fp8, nvfp4, mxfp4, nf4; rounded otherwise: weights-int4-gptq, -awq), simplify, fuse, opset-N"},
          {.names = {"--metric"},
           .arity = Arity::one_or_more,
           .metavar = "METRIC",
           .help = "top1, top5, f1, miou, map, perplexity, wer, cosine, latency, or a function FILE.py[:FUNCTION] "
                   "of outputs and labels (default metric)"},
          {.names = {"--judged-output"}, .metavar = "NAME", .help = "the output that metrics use; default: the first"},
          {.names = {"-o", "--output"},
           .metavar = "FOLDER",
           .help = "the folder that keeps plan and results; a sweep that was ended goes on there"}}};
  return {std::move(sweep), data_set_group(), work_group()};
}

tasks::SweepRequest sweep_request(const Arguments& arguments, std::vector<std::string> words) {
  for (const std::string_view option : kWithoutMeaning) {
    if (arguments.has(option)) fail(ErrorCode::usage, "{} has no meaning in a sweep", option);
  }
  if (!arguments.has("--output")) fail(ErrorCode::usage, "name the folder for results: -o FOLDER");
  if (!arguments.has("--models")) fail(ErrorCode::usage, "name the models: --models PATTERN...");
  if (!arguments.has("--run")) fail(ErrorCode::usage, "name what runs the models: --run BACKEND...");
  tasks::SweepRequest request;
  request.folder = arguments.value("--output");
  request.sides = arguments.values("--run");
  request.variants = listed(arguments, "--vary");
  request.metrics = listed(arguments, "--metric");
  request.session = session_options(arguments);
  // A number of its own, so that results do not depend on how many workers there are.
  if (request.session.threads == 0) request.session.threads = 1;
  std::vector<std::string> notes;
  request.compare = compare_options(arguments, notes);
  request.computes_tolerance = wants_computed_tolerance(arguments);
  read_data(arguments, request);
  read_work(arguments, request);
  request.worker_words = worker_words(arguments);
  request.words = std::move(words);
  request.options = deciding_options(arguments);
  request.models = tasks::find_models(arguments.values("--models"));
  tasks::check_sweep(request);
  return request;
}

}  // namespace assay::cli
