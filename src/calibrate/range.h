#pragma once

#include <map>
#include <string>

namespace assay::calibrate {

// The numbers that a value takes, or that are worth telling apart.
struct Range {
  double low = 0;
  double high = 0;
};
using Ranges = std::map<std::string, Range, std::less<>>;  // by the value's name

}  // namespace assay::calibrate
