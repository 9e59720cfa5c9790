#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::exec {

// A setting that a backend declares: options of the command line and keys of the library follow from it.
struct Setting {
  enum class Kind : uint8_t {
    word,
    flag,    // set or not
    shapes,  // a list as parse_input_shape reads it; an empty text begins another list
    input_file,
    input_files,
    output_file,
    updated_file,  // read where it is there, then written
  };
  std::string_view name;        // `graph-optimization-level`
  std::string_view alias = {};  // another name for it
  Kind kind = Kind::word;
  bool is_list = false;                   // of several values
  bool is_ignored = false;                // known for the sake of users of other programs; it has no effect
  std::vector<std::string_view> choices;  // if any, every value must be one of them
  std::string_view help;                  // one sentence: lower case, no full stop
};

// Settings of a backend, by the names that it declares (Backend::settings); others are for other backends.
class Settings {
 public:
  void set(std::string name, std::vector<std::string> values) {
    values_.insert_or_assign(std::move(name), std::move(values));
  }
  bool has(std::string_view name) const { return values_.contains(name); }
  void erase(std::string_view name) {
    if (const auto found = values_.find(name); found != values_.end()) values_.erase(found);
  }
  const std::vector<std::string>& list(std::string_view name) const;  // empty: not set
  std::string text(std::string_view name) const;                      // the last one; empty: not set
  const std::map<std::string, std::vector<std::string>, std::less<>>& all() const { return values_; }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

}  // namespace assay::exec
