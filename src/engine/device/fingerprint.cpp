#include "engine/device/fingerprint.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"

namespace assay::engine {
namespace {

std::string value_of(const Fingerprint& fingerprint, const std::string& part) {
  const auto found = std::ranges::find(fingerprint.parts, part, &Fingerprint::Part::name);
  return found == fingerprint.parts.end() ? "none" : printable(found->value);
}

void add_differences(const Fingerprint& there, const Fingerprint& here, std::vector<std::string>& differences) {
  std::vector<std::string> names;
  for (const Fingerprint* const one : {&there, &here}) {
    for (const Fingerprint::Part& part : one->parts) {
      if (std::ranges::find(names, part.name) == names.end()) names.push_back(part.name);
    }
  }
  for (const std::string& name : names) {
    const std::string theirs = value_of(there, name), ours = value_of(here, name);
    if (theirs != ours)
      differences.push_back(fmt::format("{0} {1} there, {0} {2} here", printable(name), theirs, ours));
  }
}

}  // namespace

std::string text_of(const Fingerprint& fingerprint) {
  std::vector<std::string> parts;
  for (const Fingerprint::Part& part : fingerprint.parts) parts.push_back(part.name + " " + part.value);
  if (fingerprint.threads > 0) parts.push_back(fmt::format("{} threads", fingerprint.threads));
  return fingerprint.device + ": " + join(parts, ", ");
}

std::string text_of(const std::vector<Fingerprint>& devices) {
  std::vector<std::string> texts;
  for (const Fingerprint& device : devices) texts.push_back(text_of(device));
  return join(texts, "; ");
}

std::string machine_difference(const std::vector<Fingerprint>& there, const std::vector<Fingerprint>& here) {
  std::vector<std::string> differences;
  const auto find = [](const std::vector<Fingerprint>& all, const std::string& device) {
    return std::ranges::find(all, device, &Fingerprint::device);
  };
  for (const Fingerprint& one : there) {
    const auto ours = find(here, one.device);
    if (ours == here.end())
      differences.push_back(fmt::format("device {} there, not here", printable(one.device)));
    else
      add_differences(one, *ours, differences);
  }
  for (const Fingerprint& one : here) {
    if (find(there, one.device) == there.end())
      differences.push_back(fmt::format("device {} here, not there", printable(one.device)));
  }
  return join(differences, "; ");
}

}  // namespace assay::engine
