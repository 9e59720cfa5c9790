#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "assay/model.h"
#include "interpreter_lock.h"
#include "tasks/observer.h"
#include "tensor/named.h"

namespace assay::python {

namespace nb = nanobind;

// A tensor as Python sees it: a buffer. `is_writable`: nobody else has the elements.
struct Array {
  tensor::Tensor tensor;
  bool is_writable = false;
};

// What Python holds as a tensor: an Array, a buffer of its own, or anything else that assay._arrays can make an Array
// of. Buffers are borrowed, and kept alive.
tensor::Tensor to_tensor(nb::handle object);
tensor::NamedData to_named_data(const nb::dict& values);

// The bytes at an address, which the caller vouches for; of a card, they are copied.
tensor::Bytes bytes_at(uintptr_t address, uint64_t size, std::vector<std::byte>& copied);

// Passes messages to a Python function (severity, text), and ends a task where Python was interrupted. Needs no lock of
// the interpreter.
class PythonObserver final : public tasks::Observer {
 public:
  explicit PythonObserver(nb::object on_message) : on_message_(std::move(on_message)) {}

  void on_message(LogLevel level, std::string_view text, Where where) override;
  void on_finding(const Diagnostic& finding) override;
  void on_traceback(std::string_view lines) override;
  bool is_cancelled() override;

 private:
  void tell(LogLevel level, std::string_view text);

  nb::object on_message_;
};

// Gives up the lock of the interpreter while native code runs.
template <typename Fn>
auto unlocked(Fn&& fn) {
  const Unlocked scope;
  return fn();
}

// What follows when work was told to stop: its end is waited for, or it is left alone if it takes long.
enum class AfterStop : uint8_t { wait, leave };
// Runs a function, which must not need Python, in a thread of its own. Where Python is interrupted meanwhile, the
// function is told to stop; left alone, it goes on with what it holds, and its end is nobody's business.
void run_interruptibly(std::function<void()> function, AfterStop after);
int abandoned_runs();

// Tells findings to a Python function, as PythonObserver does.
void tell(const Diagnostics& findings, const nb::object& on_message);

void bind_arrays(nb::module_& module);
void bind_models(nb::module_& module);
void bind_edits(nb::module_& module);
void bind_graphs(nb::module_& module);
void bind_sessions(nb::module_& module);
void bind_backends(nb::module_& module);
void bind_compare(nb::module_& module);
void bind_memory(nb::module_& module);

}  // namespace assay::python
