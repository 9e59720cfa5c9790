#include "engine/devices/cuda/programs.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/parallel.h"
#include "base/sha256.h"
#include "engine/devices/cuda/text/texts.h"

namespace assay::engine::cuda {
namespace {

KernelCode owned(std::string name, std::vector<std::byte> bytes) {
  const auto held = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {std::move(name), {held, held->data()}, held->size()};
}

// A whole text. By $ASSAY_CARD_KERNELS, tests have kernels that sleep now and then (late), that fail (trap), or that
// never end (hang).
std::string whole_text(const std::string& text) {
  const char* const wanted = std::getenv("ASSAY_CARD_KERNELS");
  const std::string_view kind = wanted == nullptr ? "" : wanted;
  const std::string_view setting = kind == "late"   ? "#define ASSAY_KERNELS_LATE\n"
                                   : kind == "trap" ? "#define ASSAY_KERNELS_TRAP\n"
                                   : kind == "hang" ? "#define ASSAY_KERNELS_HANG\n"
                                                    : "";
  return std::string(setting).append(machine_text()).append(text);
}

}  // namespace

Program::~Program() {
  if (module_ == nullptr) return;
  card_->api().context_set(card_->context());
  card_->api().module_unload(module_);
}

void Program::load() const {
  const std::scoped_lock lock(mutex_);
  if (function_ != nullptr) return;
  code_ = make_code_();
  card_->enter();
  card_->driver().check(card_->api().module_load(&module_, code_.first.get()), "a compiled kernel");
  Function found = nullptr;
  card_->driver().check(card_->api().module_function(&found, module_, "kernel"), "a kernel");
  function_ = found;
  set_shared();
}

Function Program::function() const {
  load();
  return function_;
}

const KernelCode& Program::code() const {
  load();
  return code_;
}

void Program::allow_shared(uint64_t bytes) const {
  const std::scoped_lock lock(mutex_);
  shared_bytes_ = std::max(shared_bytes_, bytes);
  if (function_ != nullptr) set_shared();
}

void Program::set_shared() const {
  constexpr uint64_t kAlways = 32 << 10;  // beside what the text has of its own
  if (shared_bytes_ <= kAlways) return;
  card_->enter();
  card_->driver().check(card_->api().function_set(function_, kMostDynamicShared, static_cast<int>(shared_bytes_)),
                        "shared memory");
}

std::shared_ptr<const Program> Programs::get(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  const auto [known, is_new] = programs_.try_emplace(text);
  if (is_new) {
    known->second = std::make_shared<const Program>(card_, [this, &own = known->first] { return make_code(own); });
    made_.push_back(known->second);
  }
  return known->second;
}

KernelCode Programs::make_code(const std::string& text) {
  // Cards of 9.0 have instructions that only their own architecture has.
  const std::string architecture = fmt::format("sm_{}{}", card_->capability(), card_->capability() == 90 ? "a" : "");
  const std::string whole = whole_text(text);
  const Digest digest = sha256(whole);
  std::string name = architecture + "-" + base64_encode(std::as_bytes(std::span(digest)));
  uint64_t bytes = 0;
  if (std::shared_ptr<const std::byte> first = offered(name, bytes)) return {std::move(name), std::move(first), bytes};
  const std::string key = fmt::format("{}\n{}\n{}", compiler_.identity(), architecture, whole);
  std::optional<std::vector<std::byte>> cubin = cache_.find(key);
  if (!cubin) {
    cubin = compiler_.compile(whole, architecture);
    cache_.add(key, *cubin);
  }
  return owned(std::move(name), std::move(*cubin));
}

void Programs::load() {
  std::vector<std::shared_ptr<const Program>> made;
  {
    const std::scoped_lock lock(mutex_);
    made = std::exchange(made_, {});
  }
  parallel_for(made.size(), 1, [&](uint64_t i, uint64_t) { made[i]->load(); });
}

std::vector<std::shared_ptr<const Program>> Programs::held() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<const Program>> all;
  for (const auto& [text, program] : programs_) {
    if (program.use_count() > 1) all.push_back(program);
  }
  return all;
}

std::vector<KernelCode> Programs::code() {
  std::vector<KernelCode> all;
  for (const std::shared_ptr<const Program>& program : held()) all.push_back(program->code());
  std::ranges::sort(all, {}, &KernelCode::name);
  return all;
}

void Programs::offer(const KernelCode& code) {
  const std::scoped_lock lock(mutex_);
  offered_.insert_or_assign(code.name, Offered{code.first, code.bytes});
}

std::shared_ptr<const std::byte> Programs::offered(const std::string& name, uint64_t& bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found = offered_.find(name);
  if (found == offered_.end()) return nullptr;
  bytes = found->second.bytes;
  return found->second.first.lock();
}

Buffer Programs::upload(std::span<const std::byte> bytes) const {
  Buffer table = card_->allocate(bytes.size());
  card_->driver().check(card_->api().upload(table.first.value, bytes.data(), bytes.size(), nullptr), "an upload");
  card_->driver().check(card_->api().stream_wait(nullptr), "an upload");
  return table;
}

}  // namespace assay::engine::cuda
