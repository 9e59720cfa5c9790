#include "tasks/profile/device_roof.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "exec/feeds.h"
#include "onnx/text.h"
#include "tensor/ordinary_numbers.h"

namespace assay::tasks {
namespace {

using tensor::DType;
using tensor::ordinary_numbers;

// Settings that say where and in which types is computed; others are of the model.
constexpr std::array<std::string_view, 5> kKept = {"device", "strict", "fp16", "bf16", "tf32"};

constexpr double kLong = 1e-3;  // seconds of a small product, where a large one would take minutes

// The least time that the device takes for a model of these inputs; nullopt: the processor takes it.
std::optional<double> least_seconds(const exec::Backend& backend, const exec::SessionOptions& options,
                                    std::string_view body, const tensor::NamedData& inputs) {
  constexpr int kRuns = 12;
  Diagnostics findings;
  const ir::Model model =
      onnx::parse_text(fmt::format("<ir_version: 10, opset_import: [\"\" : 21]> g {}", body), findings);
  const std::unique_ptr<exec::Session> session = backend.prepare(model, options, findings);
  const std::unique_ptr<exec::Execution> execution = session->make_execution({.threads = 0, .times_device = true});
  const std::vector<std::string> outputs = {"y"};
  const std::unique_ptr<exec::HeldFeeds> held =
      execution->hold(exec::check_feeds(session->signature(), inputs, findings), outputs);
  if (!held) return std::nullopt;
  constexpr double kMostSeconds = 0.2;
  double least = std::numeric_limits<double>::infinity(), spent = 0;
  for (int run = 0; run < kRuns && spent < kMostSeconds; ++run) {
    execution->run(*held, outputs);
    const std::optional<exec::DeviceSeconds> seconds = execution->device_seconds();
    if (!seconds) return std::nullopt;
    least = std::min(least, seconds->compute);
    spent += seconds->compute;
  }
  return least;
}

class Device {
 public:
  Device(const exec::Backend& backend, const exec::SessionOptions& options, DType type)
      : backend_(backend), type_(type) {
    options_.threads = options.threads;
    options_.search = options.search;
    for (const std::string_view name : kKept) {
      if (options.settings.has(name)) options_.settings.set(std::string(name), options.settings.list(name));
    }
    if (options_.settings.has("strict")) return;
    type_ = options_.settings.has("fp16") ? DType::float16 : options_.settings.has("bf16") ? DType::bfloat16 : type;
  }

  // Operations in a second; multiply and add are two.
  std::optional<double> flops() const {
    return rate(128, 4096, [&](int64_t size) {
      const std::string matrix = fmt::format("{}[{},{}]", name_of(type_), size, size);
      const std::optional<double> seconds = least_seconds(
          backend_, options_, fmt::format("({0} x, {0} w) => ({0} y) {{ y = Gemm<transB = 1>(x, w) }}", matrix),
          {{"x", ordinary_numbers(type_, {size, size})}, {"w", ordinary_numbers(type_, {size, size})}});
      const auto edge = static_cast<double>(size);
      return std::pair(seconds, 2 * edge * edge * edge);
    });
  }
  // Bytes that are read and written in a second.
  std::optional<double> bytes() const {
    return rate(int64_t{1} << 16, int64_t{1} << 26, [&](int64_t count) {
      const std::string vector = fmt::format("float[{}]", count);
      const std::optional<double> seconds =
          least_seconds(backend_, options_, fmt::format("({0} x) => ({0} y) {{ y = Neg(x) }}", vector),
                        {{"x", ordinary_numbers(DType::float32, {count})}});
      return std::pair(seconds, 2.0 * sizeof(float) * static_cast<double>(count));
    });
  }
  std::string type() const {
    const bool is_tf32 = type_ == DType::float32 && options_.settings.has("tf32");
    return is_tf32 ? "TF32" : type_ == DType::float32 ? "float32" : std::string(name_of(type_));
  }

 private:
  // The word of ONNX's text syntax.
  static std::string_view name_of(DType type) {
    return type == DType::float32 ? "float" : type == DType::float16 ? "float16" : "bfloat16";
  }

  // By the large size, unless the small one takes long.
  template <typename Measure>
  static std::optional<double> rate(int64_t small, int64_t large, const Measure& measure) {
    auto [seconds, amount] = measure(small);
    if (seconds && *seconds < kLong) std::tie(seconds, amount) = measure(large);
    return seconds ? std::optional(amount / *seconds) : std::nullopt;
  }

  const exec::Backend& backend_;
  exec::SessionOptions options_;
  DType type_;
};

}  // namespace

std::optional<results::MachineRoof> measure_device_roof(const exec::Backend& backend,
                                                        const exec::SessionOptions& options, DType type) {
  const auto measured = attempt([&]() -> std::optional<results::MachineRoof> {
    const Device device(backend, options, type);
    const std::optional<double> bytes = device.bytes();
    const std::optional<double> flops = bytes ? device.flops() : std::nullopt;
    if (!flops) return std::nullopt;
    return results::MachineRoof{.type = device.type(), .flops_per_second = *flops, .bytes_per_second = *bytes};
  });
  if (const auto* const error = std::get_if<Error>(&measured)) {
    if (error->code() == ErrorCode::cancelled) throw *error;
    return std::nullopt;
  }
  return std::get<std::optional<results::MachineRoof>>(measured);
}

}  // namespace assay::tasks
