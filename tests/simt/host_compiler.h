#pragma once

#include <atomic>
#include <cstdlib>
#include <set>
#include <string>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "engine/devices/cuda/nvrtc/library.h"
#include "simt/host_text.h"

namespace assay::testing_support {

// Makes libraries of the host of kernel texts, over tests/simt/machine.inc. With $ASSAY_NVRTC, each text must compile
// for cards, too.
class HostCompiler final : public engine::cuda::Compiler {
 public:
  HostCompiler() {
    if (std::getenv("ASSAY_NVRTC") == nullptr) return;
    std::string reason;
    nvrtc_ = engine::cuda::nvrtc::Library::find({}, reason);
    if (nvrtc_ == nullptr) fail(ErrorCode::backend, "{}", reason);
  }
  std::string identity() const override { return "g++ over " + std::string(kHostMachine); }
  std::vector<std::byte> compile(const std::string& text, const std::string& architecture) const override {
    if (nvrtc_ != nullptr) compile_for_cards(text, architecture);
    const TemporaryFolder folder;
    std::string log;
    const std::string bytes = host_library(text, folder.path(), log);
    if (bytes.empty()) fail(ErrorCode::backend, "the host refuses a kernel:\n{}", log.substr(0, 4000));
    ++compiled;
    const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
    return {first, first + bytes.size()};
  }
  mutable std::atomic<int> compiled = 0;

 private:
  // Instructions of matrices differ from card to card: the first text with such ones of each type is compiled for all.
  void compile_for_cards(const std::string& text, const std::string& architecture) const {
    nvrtc_->compile(text, architecture);
    if (text.find("multiply_add(sums") == std::string::npos) return;
    const size_t type = text.find("typedef", text.find("struct Params"));
    static std::set<std::string> seen;
    if (!seen.insert(text.substr(type, text.find(';', type) - type)).second) return;
    for (const char* const card : {"sm_80", "sm_86", "sm_89", "sm_120"}) nvrtc_->compile(text, card);
  }

  const engine::cuda::nvrtc::Library* nvrtc_ = nullptr;
};

}  // namespace assay::testing_support
