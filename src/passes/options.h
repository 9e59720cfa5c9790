#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace assay::passes {

// Options of the passes of one run. Each kind of pass has options of a type of its own, such as FoldOptions, beside the
// pass; an option that is not set is the type's default.
class Options {
 public:
  template <typename T>
  const T& get() const {
    static const T defaults{};
    const auto found = options_.find(typeid(T));
    return found == options_.end() ? defaults : std::any_cast<const T&>(found->second);
  }
  // To be changed in place.
  template <typename T>
  T& of() {
    std::any& held = options_[typeid(T)];
    if (!held.has_value()) held = T{};
    return std::any_cast<T&>(held);
  }
  template <typename T>
  bool has() const {
    return options_.contains(typeid(T));
  }

 private:
  std::map<std::type_index, std::any> options_;
};

}  // namespace assay::passes
