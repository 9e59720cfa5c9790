#include "engine/devices/cuda/device.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "engine/devices/cuda/copy.h"
#include "engine/devices/cuda/exchange.h"
#include "engine/devices/cuda/generate/element_chain.h"
#include "engine/devices/cuda/queue.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {
namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kMargin = uint64_t{256} << 20;  // of the card's memory that is left to others

class CardDevice final : public Device {
 public:
  CardDevice(std::shared_ptr<const Card> card, const Compiler& compiler, CubinCache cache)
      : card_(std::move(card)), programs_(card_, compiler, std::move(cache)) {
    for (const Registered<KernelFamily>& family : registered_kernels()) {
      for (std::unique_ptr<Implementation>& made : family.make().make(programs_)) owned_.push_back(std::move(made));
    }
    for (const std::unique_ptr<Implementation>& made : owned_) all_.push_back(made.get());
    rules_.computes = {tensor::DType::float32, tensor::DType::float16, tensor::DType::bfloat16};
    rules_.computes_tf32 = true;
    constexpr int kFirstWithFloat8 = 89;  // of capabilities
    rules_.multiplies_float8 = card_->capability() >= kFirstWithFloat8;
    constexpr int64_t kResultsOfProcessor = 8192;
    rules_.most_depthwise = card_->multiprocessors() * kResultsOfProcessor;
    rules_.most_fused_rows = rules_.few_rows;
    rules_.few_filters = std::numeric_limits<int64_t>::max();
    rules_.most_sum_bytes = static_cast<int64_t>(Exchange::kMostPushed);
  }

  std::string_view name() const override { return "cuda"; }
  int number() const override { return card_->number(); }
  bool is_host() const override { return false; }

  LayoutRule layout_rule(const Layer& layer) const override {
    if (form_as<SoftmaxForm>(layer) != nullptr || form_as<ChannelNormForm>(layer) != nullptr) return LayoutRule::plain;
    const LayoutRule rule = usual_layout_rule(layer);
    return rule == LayoutRule::plain && find_element_chain(layer) ? LayoutRule::follows : rule;
  }

  std::span<const Implementation* const> implementations() const override { return all_; }
  const LoweringRules& rules() const override { return rules_; }
  void leave_out(std::string_view implementation, LoweringRules& rules) const override {
    if (implementation == "product.fused") rules.most_fused_rows = 0;
    if (implementation == "conv.separable") rules.most_depthwise = 0;
    if (implementation == "product.codes") rules.multiplies_float8 = false;
  }
  std::unique_ptr<Kernel> make_copy(const TensorDesc& from, const TensorDesc& to) const override {
    return cuda::make_copy(programs_, from, to);
  }
  Buffer allocate(uint64_t size_bytes) const override { return card_->allocate(size_bytes); }

  std::optional<Buffer> lent(uint64_t address, uint64_t size_bytes) const override {
    unsigned kind = 0;
    int number = 0;
    card_->enter();
    const Api& api = card_->api();
    if (api.pointer_fact(&kind, kKindOfMemory, address) != kSuccess || kind != kMemoryOfCard) return std::nullopt;
    card_->driver().check(api.pointer_fact(&number, kCardOfMemory, address), "a fact about memory");
    if (number != card_->number()) {
      fail(ErrorCode::unsupported, "the memory at {:#x} is that of cuda:{}: the engine computes on cuda:{}", address,
           number, card_->number());
    }
    return Buffer{{address}, size_bytes, nullptr};
  }

  void fill_sample(const Buffer& buffer, tensor::DType dtype) const override {
    const bool is_float = dtype == tensor::DType::float32;
    const bool is_half = is_short_float(dtype) || dtype == tensor::DType::undefined;
    constexpr unsigned kQuarter = 0x3e800000, kOrdinary = 0x3e803e80;
    card_->enter();
    const auto& api = card_->api();
    const unsigned word = is_float ? kQuarter : is_half ? kOrdinary : 0;
    card_->driver().check(api.set_words(buffer.first.value, word, buffer.bytes / sizeof word, nullptr), "a filling");
    card_->driver().check(api.stream_wait(nullptr), "a filling");
  }

  double measure(Call& call, double budget, std::span<const Extent>) const override {
    constexpr int kMost = 20;   // rounds
    constexpr int kCalls = 16;  // of a round, since one alone is too short for the clock of the card
    const std::unique_ptr<LaunchQueue> queue = cuda::make_queue(card_);
    call.run(*queue);
    queue->wait();
    double least = std::numeric_limits<double>::infinity();
    double spent = 0;
    for (int round = 0; round < 2 || (round < kMost && spent < budget); ++round) {
      queue->mark();
      for (int i = 0; i < kCalls; ++i) call.run(*queue);
      queue->mark();
      queue->wait();
      const double seconds = queue->seconds().front();
      least = std::min(least, seconds / kCalls);
      spent += seconds;
    }
    return least;
  }

  uint64_t alignment() const override { return kAlignment; }
  uint64_t free_bytes() const override {
    const uint64_t free = card_->free_bytes();
    return free - std::min(free, kMargin);
  }
  std::unique_ptr<Queue> make_queue() const override { return cuda::make_queue(card_); }
  uint64_t cache_bytes() const override { return card_->l2_bytes(); }

  Fingerprint fingerprint() const override {
    const int version = card_->driver().version();
    return {.device = "cuda",
            .parts = {{"card", fmt::format("{} with {} processors", card_->name(), card_->multiprocessors())},
                      {"driver", fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10)}}};
  }

  void load_kernels() const override { programs_.load(); }
  std::vector<KernelCode> code() const override { return programs_.code(); }
  void offer(const KernelCode& code) const override { programs_.offer(code); }

 private:
  std::shared_ptr<const Card> card_;
  mutable Programs programs_;
  LoweringRules rules_;
  Implementations owned_;
  std::vector<const Implementation*> all_;
};

}  // namespace

std::unique_ptr<Device> make_device(std::shared_ptr<const Card> card, const Compiler& compiler, CubinCache cache) {
  return std::make_unique<CardDevice>(std::move(card), compiler, std::move(cache));
}

}  // namespace assay::engine::cuda
