#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/session.h"
#include "tasks/bench.h"
#include "tensor/named.h"

namespace assay::tasks {

// A backend that is ready to be timed: a session with an execution for each stream.
class BenchSubject {
 public:
  // The sets of inputs are taken in turn and must outlive it.
  BenchSubject(results::BenchSide& side, std::unique_ptr<exec::Session> session,
               std::span<const std::vector<exec::Feed>> sets);

  void make_streams(unsigned streams, unsigned threads_each);
  // Leaves inputs and outputs of measured runs on the devices of the streams from now on. Error (unsupported): the
  // sizes of outputs differ from set to set, or are no tensors.
  void keep_on_device();
  results::BenchSide& side() { return side_; }
  const exec::Session& session() const { return *session_; }

  // Runs once and returns what it took; `origin` is when measuring began.
  results::BenchSample run(unsigned stream, const Stopwatch& origin);
  // Runs with an execution that measures its layers, at least once and until as many runs or seconds have gone by.
  void profile(uint64_t runs, double seconds);
  // The outputs of one more run, with other values that the session was made for.
  tensor::NamedData outputs(const std::vector<std::string>& others);
  // The outputs of one run with other inputs.
  tensor::NamedData outputs_of(const std::vector<exec::Feed>& feeds);

 private:
  struct Stream {
    std::unique_ptr<exec::Execution> execution;
    std::vector<std::unique_ptr<exec::HeldFeeds>> held;  // of the sets, if they lie on its device
    uint64_t runs = 0;
  };
  void hold(Stream& stream) const;
  void run_on(Stream& stream);
  void run_on(Stream& stream, std::span<const std::string> names, exec::TensorSink& sink);

  results::BenchSide& side_;
  std::unique_ptr<exec::Session> session_;
  std::span<const std::vector<exec::Feed>> sets_;
  std::vector<std::string> names_;
  std::vector<Stream> streams_;
};

// Times one backend, all its streams at once.
void measure_alone(BenchSubject& subject, const BenchRequest& request, Observer& observer);
// Times several in turns, in another order each time; between two turns the threads of the one before fall asleep. One
// that fails is left out from then on; where the first one fails when it warms up, nothing is measured.
void measure_in_turns(std::span<const std::unique_ptr<BenchSubject>> subjects, const BenchRequest& request,
                      Observer& observer);

}  // namespace assay::tasks
