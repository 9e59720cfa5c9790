#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "tensor/tensor.h"

namespace assay::report {

using Timings = std::vector<std::pair<std::string, double>>;

// The frame of all reports: an object with `schema` first and `timings` last.
class JsonReport {
 public:
  // The command as users write it: `check lint`.
  explicit JsonReport(std::string_view command);

  // Ends the object; call once.
  std::string end(const Timings& timings);

  JsonWriter json;
};

// The report of a command that an error ended before it had a result; `model` may be empty.
std::string failure_json(std::string_view command, std::string_view model, std::string_view line, int exit_status);
// The reports of several models in one object.
std::string models_json(std::string_view command, const std::vector<std::string>& reports, int exit_status,
                        double seconds);

// Writes "key": ["a", "b"].
void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts);
void write_timings(JsonWriter& json, const Timings& timings);
// Writes "key": […], each item by write(json, item).
template <typename T, typename Write>
void write_list(JsonWriter& json, std::string_view key, const std::vector<T>& items, Write&& write) {
  json.key(key);
  json.begin_array();
  for (const T& item : items) write(json, item);
  json.end_array();
}
// The elements of a tensor as a flat array; if they cannot be read, a text with the reason.
void write_elements(JsonWriter& json, const tensor::Tensor& tensor);

}  // namespace assay::report
