#include "tasks/sweep/kept_samples.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "formats/numpy/npz.h"
#include "sweep/keys.h"

namespace assay::tasks {
namespace {

namespace fs = std::filesystem;

fs::path shard_path(const fs::path& folder, uint64_t begin) {
  return folder / "data" / fmt::format("{:09}.npz", begin);
}

// Names of the arrays of a sample, in the file of its shard.
std::string prefix_of(uint64_t number) { return fmt::format("{}/", number); }

class KeptSamples final : public SampleReader {
 public:
  KeptSamples(fs::path folder, const results::SweepPlan& plan) : folder_(std::move(folder)), plan_(plan) {}

  tensor::NamedData read(uint64_t number) override {
    const auto shard = std::ranges::find_if(
        plan_.shards, [&](const results::PlannedShard& s) { return s.begin <= number && number < s.end; });
    if (shard == plan_.shards.end()) fail(ErrorCode::io, "the plan has no sample {}", number);
    if (opened_ != shard->begin) {
      arrays_ = formats::read_npz(MappedFile::open(shard_path(folder_, shard->begin)));
      opened_ = shard->begin;
    }
    tensor::NamedData sample;
    const std::string prefix = prefix_of(number);
    for (const tensor::NamedDatum& array : arrays_) {
      if (array.name.starts_with(prefix)) sample.push_back({array.name.substr(prefix.size()), array.value});
    }
    return sample;
  }

 private:
  fs::path folder_;
  const results::SweepPlan& plan_;
  tensor::NamedData arrays_;
  std::optional<uint64_t> opened_;
};

// Collects samples until a shard is full, and saves it.
class ShardWriter {
 public:
  ShardWriter(const SweepRequest& request, results::SweepPlan& plan) : request_(request), plan_(plan) {
    std::error_code error;
    fs::create_directories(request.folder / "data", error);
  }

  uint64_t count() const { return count_; }
  bool wants_more() const { return request_.most_samples == 0 || count_ < request_.most_samples; }

  void add(const tensor::NamedData& sample) {
    for (const tensor::NamedDatum& entry : sample) arrays_.push_back({prefix_of(count_) + entry.name, entry.value});
    if (++count_ % request_.shard_size == 0) finish("");
  }
  // The samples collected so far are a shard, which `failure` ended.
  void finish(const std::string& failure) {
    if (failure.empty() && begin_ == count_) return;
    results::PlannedShard shard{begin_, failure.empty() ? count_ : count_ + 1, "", failure};
    if (failure.empty()) {
      const fs::path path = shard_path(request_.folder, begin_);
      formats::write_npz(path, arrays_);
      shard.digest = sweep::digest_of(MappedFile::open(path)->bytes());
    }
    plan_.shards.push_back(std::move(shard));
    arrays_.clear();
    begin_ = count_;
  }

 private:
  const SweepRequest& request_;
  results::SweepPlan& plan_;
  tensor::NamedData arrays_;
  uint64_t begin_ = 0;
  uint64_t count_ = 0;
};

bool has_all(const results::SweepPlan& older, const results::SweepPlan& plan, const fs::path& folder) {
  return older.data == plan.data && std::ranges::all_of(older.shards, [&](const results::PlannedShard& shard) {
           return shard.failure.empty() && is_file(shard_path(folder, shard.begin));
         });
}

void run_loader(remote::PythonHost& host, const remote::ScriptFunction& function, ShardWriter& writer) {
  try {
    const auto next = host.data_stream(function);
    while (writer.wants_more()) {
      const std::optional<tensor::NamedData> sample = next();
      if (!sample) break;
      writer.add(*sample);
    }
    writer.finish("");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage && error.code() != ErrorCode::backend) throw;
    if (writer.count() == 0) throw Error(error.code(), fmt::format("sample 0: {}", error.line()));
    writer.finish(fmt::format("sample {}: {}", writer.count(), error.line()));
  }
}

}  // namespace

void keep_samples(const SweepRequest& request, const results::SweepPlan* older, Observer& observer,
                  results::SweepPlan& plan) {
  const remote::ScriptFunction function = remote::parse_script_function(request.data, "load_data");
  plan.data = fmt::format("{} {} {} of {}", request.data, sweep::digest_of(MappedFile::open(function.path)->bytes()),
                          request.most_samples, request.shard_size);
  if (older != nullptr && has_all(*older, plan, request.folder)) {
    plan.shards = older->shards;
    return;
  }
  observer.info(fmt::format("Reading the samples of {} into {}", printable(request.data),
                            printable((request.folder / "data").string())));
  const std::shared_ptr<remote::PythonHost> host = make_python_host(request.session.search, 0, observer);
  ShardWriter writer(request, plan);
  run_loader(*host, function, writer);
  if (plan.shards.empty()) fail(ErrorCode::usage, "the loader `{}` gave no samples", printable(request.data));
  for (const results::PlannedShard& shard : plan.shards) {
    if (!shard.failure.empty()) observer.warning(shard.failure + "; nothing behind it is reached");
  }
}

std::unique_ptr<SampleReader> open_kept_samples(const fs::path& folder, const results::SweepPlan& plan) {
  return std::make_unique<KeptSamples>(folder, plan);
}

}  // namespace assay::tasks
