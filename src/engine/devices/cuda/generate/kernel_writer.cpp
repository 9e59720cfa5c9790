#include "engine/devices/cuda/generate/kernel_writer.h"

#include <fmt/format.h>

#include "engine/devices/cuda/generate/element_site.h"
#include "engine/devices/cuda/text/texts.h"

namespace assay::engine::cuda {

void KernelWriter::pointer(std::string_view name, std::string_view type, const Pointer& pointer) {
  names_ += fmt::format("#define {} (({}*)p.at[{}])\n", name, type, launch_.pointers.size());
  launch_.pointers.push_back(pointer);
}

void KernelWriter::number(std::string_view name, int64_t value) {
  names_ += fmt::format("#define {} p.n[{}]\n", name, launch_.numbers.size());
  launch_.add(value);
}

void KernelWriter::real(std::string_view name, float value) {
  names_ += fmt::format("#define {} NUMBER({})\n", name, launch_.numbers.size());
  launch_.add(value);
}

void KernelWriter::divisor(std::string_view name, int64_t value) {
  names_ += fmt::format("#define {} DIVISOR({})\n", name, launch_.numbers.size());
  launch_.add_divisor(value);
}

void KernelWriter::constant(std::string_view name, int64_t value) {
  names_ += fmt::format("#define {} {}\n", name, value);
}

void KernelWriter::type(std::string_view name, tensor::DType dtype) {
  names_ += fmt::format("typedef {} {};\n", element_type(dtype), name);
}

Launch KernelWriter::finish(Programs& programs, unsigned threads, int64_t blocks, std::string_view kernel,
                            std::string_view before) {
  if (launch_.pointers.empty()) launch_.pointers.emplace_back();
  if (launch_.numbers.empty()) launch_.add(int64_t{0});
  launch_.threads = threads;
  launch_.grid[0] = static_cast<unsigned>(blocks);
  constant("kThreads", threads);
  std::string text(elements_text());
  text += params_text(launch_);
  text += names_;
  text += before;
  text += kernel;
  launch_.program = programs.get(text);
  launch_.program->allow_shared(launch_.shared_bytes);
  return std::move(launch_);
}

}  // namespace assay::engine::cuda
