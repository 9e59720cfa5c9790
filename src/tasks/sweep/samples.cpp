#include "tasks/sweep/samples.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "formats/numpy/npz.h"
#include "formats/saved_data.h"
#include "sweep/keys.h"
#include "tasks/sweep/images.h"
#include "tasks/sweep/kept_samples.h"

namespace assay::tasks {
namespace {

namespace fs = std::filesystem;

class GeneratedSamples final : public SampleReader {
 public:
  GeneratedSamples(const SweepRequest& request, const ir::Model& model) {
    InputRequest inputs;
    inputs.generated = request.generated;
    inputs.iterations = request.iterations;
    Observer nobody;
    data_ = make_inputs(model, inputs, nobody, findings_);
  }
  tensor::NamedData read(uint64_t number) override { return data_.source->get(number).value(); }

 private:
  Diagnostics findings_;
  InputData data_;
};

// A file for each sample.
class FileSamples final : public SampleReader {
 public:
  explicit FileSamples(const results::SweepPlan& plan) : plan_(plan) {}
  tensor::NamedData read(uint64_t number) override {
    const std::string& path = plan_.files[number];
    return with_frame([&] { return fmt::format("sample {}, `{}`", number, printable(path)); },
                      [&] { return formats::read_npz(MappedFile::open(path)); });
  }

 private:
  const results::SweepPlan& plan_;
};

// All samples of one file.
class InputFileSamples final : public SampleReader {
 public:
  explicit InputFileSamples(const std::string& path) : samples_(formats::load_inputs(path)) {}
  tensor::NamedData read(uint64_t number) override {
    if (number >= samples_.size()) fail(ErrorCode::io, "the file has no sample {} any more", number);
    return samples_[number];
  }

 private:
  formats::SavedInputs samples_;
};

bool is_loader(const std::string& path) { return path.ends_with(".py") || path.find(".py:") != std::string::npos; }

std::vector<std::string> files_in(const fs::path& folder, std::string_view extension) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == extension) files.push_back(entry.path().string());
  }
  if (error) fail(ErrorCode::io, "the folder `{}` cannot be read: {}", printable(folder.string()), error.message());
  std::ranges::sort(files);
  return files;
}

// Shards of samples of which `count` there are; `digest_of_sample` may throw for one that cannot be read.
template <typename Digest>
void cut_into_shards(const SweepRequest& request, uint64_t count, Digest&& digest_of_sample, results::SweepPlan& plan) {
  if (request.most_samples > 0) count = std::min(count, request.most_samples);
  for (uint64_t begin = 0; begin < count; begin += request.shard_size) {
    results::PlannedShard shard{begin, std::min(begin + request.shard_size, count), "", ""};
    std::string text;
    for (uint64_t i = shard.begin; i < shard.end; ++i) text += digest_of_sample(i) + "\n";
    shard.digest = sweep::digest_of(text);
    plan.shards.push_back(std::move(shard));
  }
  if (count == 0) fail(ErrorCode::usage, "there are no samples in `{}`", printable(request.data));
}

void plan_files(const SweepRequest& request, results::SweepPlan& plan) {
  cut_into_shards(
      request, plan.files.size(), [&](uint64_t i) { return digest_of_file(plan.files[i]); }, plan);
}

}  // namespace

std::string digest_of_file(const std::string& path) { return sweep::digest_of(MappedFile::open(path)->bytes()); }

DataKind data_kind(const SweepRequest& request) {
  if (request.data.empty()) return DataKind::generated;
  if (is_loader(request.data)) return DataKind::loader;
  if (!is_folder(request.data)) return DataKind::file;
  return files_in(request.data, ".npz").empty() ? DataKind::images : DataKind::folder;
}

void plan_data(const SweepRequest& request, const results::SweepPlan* older, Observer& observer,
               results::SweepPlan& plan) {
  switch (data_kind(request)) {
    case DataKind::generated:
      plan.data = "generated";
      return cut_into_shards(
          request, request.iterations, [](uint64_t i) { return std::to_string(i); }, plan);
    case DataKind::file: {
      plan.data = request.data;
      const std::string digest = digest_of_file(request.data);
      return cut_into_shards(
          request, formats::load_inputs(request.data).size(), [&](uint64_t) { return digest; }, plan);
    }
    case DataKind::folder:
      plan.data = request.data;
      plan.files = files_in(request.data, ".npz");
      return plan_files(request, plan);
    case DataKind::images:
      plan.data = request.data;
      find_images(request.data, plan);
      return cut_into_shards(
          request, plan.files.size(),
          [&](uint64_t i) { return fmt::format("{} {}", digest_of_file(plan.files[i]), plan.labels[i]); }, plan);
    case DataKind::loader:
      return keep_samples(request, older, observer, plan);
  }
}

std::unique_ptr<SampleReader> open_samples(const SweepRequest& request, const results::SweepPlan& plan,
                                           const ir::Model& model) {
  switch (data_kind(request)) {
    case DataKind::generated:
      return std::make_unique<GeneratedSamples>(request, model);
    case DataKind::file:
      return std::make_unique<InputFileSamples>(request.data);
    case DataKind::folder:
      return std::make_unique<FileSamples>(plan);
    case DataKind::images:
      return open_images(request.images, plan, model);
    case DataKind::loader:
      return open_kept_samples(request.folder, plan);
  }
  return nullptr;
}

}  // namespace assay::tasks
