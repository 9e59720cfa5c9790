#include "tasks/bench/measure.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <exception>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "exec/sinks.h"

namespace assay::tasks {
namespace {

constexpr uint64_t kMostSamples = 20'000'000;  // of all streams of a backend
constexpr double kTurnSeconds = 0.01;          // of a backend among its rivals
constexpr double kPauseSeconds = 0.01;         // until threads that spin are asleep

void sleep_seconds(double seconds) {
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double median_of(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  if (numbers.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(numbers.begin(), middle)) / 2;
}

// One stream's part of a measurement of all of them.
class StreamMeasurement {
 public:
  StreamMeasurement(BenchSubject& subject, unsigned stream, const BenchRequest& request)
      : subject_(subject), stream_(stream), request_(request) {}

  void warm_up() {
    const Stopwatch watch;
    do {
      subject_.run(stream_, watch);
      ++warm_up_runs;
    } while (watch.seconds() < request_.warm_up_seconds);
    warm_up_seconds = watch.seconds();
  }

  void measure(const Stopwatch& origin, const std::atomic<bool>& is_cancelled) {
    const uint64_t most = kMostSamples / request_.streams;
    while (!is_cancelled && (samples.size() < request_.iterations || origin.seconds() < request_.duration_seconds)) {
      if (samples.size() == most) {
        is_cut = true;
        return;
      }
      samples.push_back(subject_.run(stream_, origin));
      sleep_seconds(request_.idle_seconds);
    }
  }

  uint64_t warm_up_runs = 0;
  double warm_up_seconds = 0;
  std::vector<results::BenchSample> samples;
  bool is_cut = false;
  std::exception_ptr failure;

 private:
  BenchSubject& subject_;
  unsigned stream_;
  const BenchRequest& request_;
};

// Adds what a stream measured; streams are added in order.
void add(const StreamMeasurement& stream, results::BenchSide& side) {
  if (stream.failure) std::rethrow_exception(stream.failure);
  side.warm_up_runs += stream.warm_up_runs;
  side.warm_up_seconds = std::max(side.warm_up_seconds, stream.warm_up_seconds);
  side.samples.insert(side.samples.end(), stream.samples.begin(), stream.samples.end());
  side.is_cut = side.is_cut || stream.is_cut;
}

// Calls work(); an Error becomes the failure of the side.
template <typename Work>
void guard(results::BenchSide& side, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled || error.code() == ErrorCode::usage) throw;
    side.failure = error.line();
  }
}

// All streams begin each part together. What one throws is kept until all have ended.
class Streams {
 public:
  Streams(BenchSubject& subject, const BenchRequest& request)
      : request_(request), all_warm_(request.streams + 1), begun_(request.streams + 1) {
    for (unsigned i = 0; i < request.streams; ++i) parts_.emplace_back(subject, i, request);
  }

  void run(Observer& observer) {
    std::vector<std::thread> threads;
    for (StreamMeasurement& part : parts_) threads.emplace_back([this, &part] { work(part); });
    all_warm_.arrive_and_wait();
    sleep_seconds(request_.sleep_seconds);
    origin_ = Stopwatch();
    begun_.arrive_and_wait();
    const std::exception_ptr cancelled = watch(observer);
    for (std::thread& thread : threads) thread.join();
    if (cancelled) std::rethrow_exception(cancelled);
  }

  const std::vector<StreamMeasurement>& parts() const { return parts_; }

 private:
  void work(StreamMeasurement& part) {
    attempt_part(part, [&] { part.warm_up(); });
    all_warm_.arrive_and_wait();
    begun_.arrive_and_wait();
    if (!part.failure) attempt_part(part, [&] { part.measure(origin_, is_cancelled_); });
    ++ended_;
  }

  template <typename Part>
  static void attempt_part(StreamMeasurement& part, Part&& what) {
    try {
      what();
    } catch (...) {
      part.failure = std::current_exception();
    }
  }

  std::exception_ptr watch(Observer& observer) {
    constexpr double kLookSeconds = 0.05;
    while (ended_ < parts_.size()) {
      try {
        check_cancelled(observer);
      } catch (...) {
        is_cancelled_ = true;
        return std::current_exception();
      }
      const double left = request_.duration_seconds - origin_.seconds();
      sleep_seconds(left > 0 ? std::min(left, kLookSeconds) : kLookSeconds / 10);
    }
    return nullptr;
  }

  const BenchRequest& request_;
  std::vector<StreamMeasurement> parts_;
  std::barrier<> all_warm_;
  std::barrier<> begun_;
  Stopwatch origin_;
  std::atomic<bool> is_cancelled_ = false;
  std::atomic<size_t> ended_ = 0;
};

void measure_here(BenchSubject& subject, const BenchRequest& request, Observer& observer) {
  StreamMeasurement part(subject, 0, request);
  part.warm_up();
  check_cancelled(observer);
  sleep_seconds(request.sleep_seconds);
  part.measure(Stopwatch(), false);
  add(part, subject.side());
}

// A turn among rivals: at least one run, and more of short ones.
void take_turn(BenchSubject& subject, const Stopwatch& origin, const BenchRequest& request) {
  const Stopwatch turn;
  do {
    subject.side().samples.push_back(subject.run(0, origin));
    sleep_seconds(request.idle_seconds);
  } while (turn.seconds() < kTurnSeconds);
  subject.side().is_cut = subject.side().samples.size() >= kMostSamples;
}

void warm_up(BenchSubject& subject, const BenchRequest& request) {
  StreamMeasurement part(subject, 0, request);
  part.warm_up();
  add(part, subject.side());
}

}  // namespace

BenchSubject::BenchSubject(results::BenchSide& side, std::unique_ptr<exec::Session> session,
                           std::span<const std::vector<exec::Feed>> sets)
    : side_(side), session_(std::move(session)), sets_(sets) {
  for (const exec::Port& output : session_->signature().outputs) names_.push_back(output.name);
}

void BenchSubject::make_streams(unsigned streams, unsigned threads_each) {
  for (unsigned i = 0; i < streams; ++i)
    streams_.push_back({session_->make_execution({.threads = threads_each, .times_device = true}), {}});
}

void BenchSubject::hold(Stream& stream) const {
  for (const std::vector<exec::Feed>& set : sets_) {
    std::unique_ptr<exec::HeldFeeds> held = stream.execution->hold(set, names_);
    if (!held) return stream.held.clear();
    stream.held.push_back(std::move(held));
  }
}

void BenchSubject::keep_on_device() {
  for (Stream& stream : streams_) hold(stream);
}

void BenchSubject::run_on(Stream& stream) {
  exec::IgnoringSink sink;
  if (stream.held.empty()) return run_on(stream, names_, sink);
  stream.execution->run(*stream.held[stream.runs++ % stream.held.size()], names_);
}

void BenchSubject::run_on(Stream& stream, std::span<const std::string> names, exec::TensorSink& sink) {
  stream.execution->run(sets_[stream.runs++ % sets_.size()], names, sink);
}

results::BenchSample BenchSubject::run(unsigned stream, const Stopwatch& origin) {
  Stream& used = streams_[stream];
  const double start = origin.seconds();
  run_on(used);
  const double latency = origin.seconds() - start;
  results::BenchSample sample{start, latency, std::min(latency, used.execution->seconds())};
  sample.stream = stream;
  if (const std::optional<exec::DeviceSeconds> device = used.execution->device_seconds()) {
    sample.upload_seconds = device->upload;
    sample.compute_seconds = device->compute;
    sample.download_seconds = device->download;
    sample.is_on_device = true;
  }
  return sample;
}

void BenchSubject::profile(uint64_t runs, double seconds) {
  Stream stream{session_->make_execution({.profiles = true}), {}};
  if (!streams_.front().held.empty()) hold(stream);
  std::vector<std::vector<double>> times;
  std::vector<exec::LayerSeconds> layers;
  run_on(stream);  // unmeasured: it makes plans and fills caches
  const Stopwatch watch;
  do {
    run_on(stream);
    layers = stream.execution->profile();
    times.resize(layers.size());
    for (size_t i = 0; i < layers.size(); ++i) times[i].push_back(layers[i].seconds);
  } while (++side_.profile.runs < runs && watch.seconds() < seconds);
  double sum = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    results::LayerTimes layer{.layer = layers[i].layer, .op = layers[i].op};
    for (const double time : times[i]) layer.total_seconds += time;
    layer.mean_seconds = layer.total_seconds / static_cast<double>(times[i].size());
    layer.median_seconds = median_of(times[i]);
    sum += layer.total_seconds;
    side_.profile.layers.push_back(std::move(layer));
  }
  for (results::LayerTimes& layer : side_.profile.layers) layer.share = sum > 0 ? layer.total_seconds / sum : 0;
}

tensor::NamedData BenchSubject::outputs(const std::vector<std::string>& others) {
  std::vector<std::string> names = names_;
  names.insert(names.end(), others.begin(), others.end());
  exec::KeepingSink keeper;
  run_on(streams_[0], names, keeper);
  tensor::NamedData ordered;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(keeper.values, name, &tensor::NamedDatum::name);
    if (found != keeper.values.end()) ordered.push_back(*found);
  }
  return ordered;
}

tensor::NamedData BenchSubject::outputs_of(const std::vector<exec::Feed>& feeds) {
  exec::KeepingSink keeper;
  streams_[0].execution->run(feeds, names_, keeper);
  return std::move(keeper.values);
}

void measure_alone(BenchSubject& subject, const BenchRequest& request, Observer& observer) {
  guard(subject.side(), [&] {
    if (request.streams == 1) return measure_here(subject, request, observer);
    Streams streams(subject, request);
    streams.run(observer);
    for (const StreamMeasurement& part : streams.parts()) add(part, subject.side());
  });
  std::ranges::stable_sort(subject.side().samples, {}, &results::BenchSample::start_seconds);
}

void measure_in_turns(std::span<const std::unique_ptr<BenchSubject>> subjects, const BenchRequest& request,
                      Observer& observer) {
  std::vector<BenchSubject*> order;
  for (const std::unique_ptr<BenchSubject>& subject : subjects) {
    guard(subject->side(), [&] { warm_up(*subject, request); });
    if (order.empty() && !subject->side().failure.empty()) return;  // rivals of nothing
    order.push_back(subject.get());
  }
  const auto drop_failed = [&] { std::erase_if(order, [](BenchSubject* s) { return !s->side().failure.empty(); }); };
  const auto has_few = [&](BenchSubject* s) { return s->side().samples.size() < request.iterations; };
  const auto is_full = [](BenchSubject* s) { return s->side().is_cut; };
  drop_failed();
  sleep_seconds(request.sleep_seconds);
  const Stopwatch origin;
  while (!order.empty() && std::ranges::none_of(order, is_full) &&
         (std::ranges::any_of(order, has_few) ||
          origin.seconds() < request.duration_seconds * static_cast<double>(order.size()))) {
    check_cancelled(observer);
    std::ranges::rotate(order, order.begin() + 1);  // so that none always follows the same one
    for (BenchSubject* const subject : order) {
      guard(subject->side(), [&] { take_turn(*subject, origin, request); });
      sleep_seconds(kPauseSeconds);
    }
    drop_failed();
  }
}

}  // namespace assay::tasks
