// Stands in for NVIDIA's driver and NVRTC: one card whose kernels the host runs, so that the program as a whole can be
// tried where there is none.
#include <cstdlib>
#include <filesystem>

#include "simt/host_driver.h"
#include "simt/host_text.h"

namespace cuda = assay::engine::cuda;

namespace {

const cuda::Api& api() {
  static const cuda::Api made = assay::testing_support::host_driver::make_api();
  return made;
}

// A text, and what became of it.
struct Text {
  std::string text;
  std::string library;
  std::string log;
};

}  // namespace

// A function of the driver by its name is a jump to that of the table, whatever it takes.
#define ASSAY_TARGET(member, name, ...) \
  extern "C" void* name##_target;       \
  void* name##_target = reinterpret_cast<void*>(api().member);
#define ASSAY_JUMP(member, name, ...)                                                  \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n  movq " #name \
      "_target@GOTPCREL(%rip), %rax\n  jmp *(%rax)\n");
ASSAY_CUDA_FUNCTIONS(ASSAY_TARGET)
ASSAY_CUDA_FUNCTIONS(ASSAY_JUMP)

extern "C" {

// Another one for each machine that kernels are compiled over, so that none is kept too long.
int nvrtcVersion(int* major, int* minor) {
  std::ifstream machine(assay::testing_support::kHostMachine);
  *major = 13;
  *minor =
      static_cast<int>(std::hash<std::string>()(std::string(std::istreambuf_iterator<char>(machine), {})) % 1000000);
  return 0;
}
int nvrtcCreateProgram(Text** made, const char* text, const char*, int, const char* const*, const char* const*) {
  *made = new Text{.text = text, .library = {}, .log = {}};
  return 0;
}
int nvrtcCompileProgram(Text* text, int, const char* const*) {
  std::string folder = "/tmp/assay-text-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  text->library = assay::testing_support::host_library(text->text, folder, text->log);
  std::filesystem::remove_all(folder);
  return text->library.empty() ? 6 : 0;
}
int nvrtcDestroyProgram(Text** text) {
  delete *text;
  return 0;
}
int nvrtcGetProgramLogSize(const Text* text, size_t* bytes) {
  *bytes = text->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(const Text* text, char* log) {
  std::memcpy(log, text->log.c_str(), text->log.size() + 1);
  return 0;
}
int nvrtcGetCUBINSize(const Text* text, size_t* bytes) {
  *bytes = text->library.size();
  return 0;
}
int nvrtcGetCUBIN(const Text* text, char* to) {
  std::memcpy(to, text->library.data(), text->library.size());
  return 0;
}
const char* nvrtcGetErrorString(int) { return "an error"; }
}
