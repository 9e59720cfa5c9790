#pragma once

#include <string>
#include <vector>

namespace assay::engine {

// Facts of one device that measurements and packed weights depend on.
struct Fingerprint {
  struct Part {
    std::string name;  // `processor`
    std::string value;
    bool operator==(const Part&) const = default;
  };
  std::string device;       // Device::name()
  std::vector<Part> parts;  // of hardware and libraries
  unsigned threads = 0;     // that its kernels run on; 0: it has none of the host's
  bool operator==(const Fingerprint&) const = default;
};

// `cpu: processor x, oneDNN 3.1, 2 threads`.
std::string text_of(const Fingerprint& fingerprint);
// Texts of all devices, with `; ` between them.
std::string text_of(const std::vector<Fingerprint>& devices);

// Differences between two machines by their devices, but for numbers of threads: `oneDNN 3.1 there, oneDNN 3.2 here`;
// empty: none.
std::string machine_difference(const std::vector<Fingerprint>& there, const std::vector<Fingerprint>& here);

}  // namespace assay::engine
