#pragma once

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "engine/devices/cuda/nvrtc/library.h"

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
  std::string identity() const override { return "g++ over " + std::string(kMachine); }
  std::vector<std::byte> compile(const std::string& text, const std::string& architecture) const override {
    if (nvrtc_ != nullptr) compile_for_cards(text, architecture);
    const TemporaryFolder folder;
    const std::filesystem::path source = folder.path() / "kernel.cpp", library = folder.path() / "kernel.so";
    std::ofstream(source) << text;
    const bool has_fibers = text.find("meet(") != std::string::npos && uses_exchange(text);
    const std::string command = std::string("g++ -std=c++20 -O0 -w -shared -fPIC -ffp-contract=fast -DHOST_FIBERS=") +
                                (has_fibers ? "true" : "false") + " -include " + kMachine + " -o " + library.string() +
                                " " + source.string() + " 2>" + (folder.path() / "log").string();
    if (std::system(command.c_str()) != 0) {
      std::ifstream log(folder.path() / "log");
      fail(ErrorCode::backend, "the host refuses a kernel:\n{}",
           std::string(std::istreambuf_iterator<char>(log), {}).substr(0, 4000));
    }
    ++compiled;
    std::ifstream made(library, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(made), {});
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
  static constexpr const char* kMachine = ASSAY_SOURCE_DIR "/tests/simt/machine.inc";
  // The kernel itself, behind the helpers of machine.cu, exchanges values between threads.
  static bool uses_exchange(const std::string& text) {
    const std::string kernel = text.substr(text.find("struct Params"));
    for (const char* const word : {"meet(", "from_lane(", "warp_", "block_", "multiply_tiles("}) {
      if (kernel.find(word) != std::string::npos) return true;
    }
    return false;
  }
};

}  // namespace assay::testing_support
