// Arbitrary bytes read as a file of saved data: only Error may come out of it, here or when the elements are used.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "formats/read_file.h"
#include "support/data_touch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  try {
    touch(formats::read_file(MappedFile::from_bytes(std::as_bytes(std::span(data, size)), "fuzz.json")));
  } catch (const Error& error) {
    const std::string line = error.line();
    if (line.empty() || line.find_first_of("\n\r") != std::string::npos) std::abort();
  }
  return 0;
}
