#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/model.h"
#include "surgery/given_value.h"

namespace assay::surgery {

// An attribute of a node, which is named by itself or by one of its results.
struct AttributeSetting {
  std::string node;
  std::string attribute;
  GivenValue value;
};

// An initializer, the default of an input, or what a Constant node holds.
struct ConstantSetting {
  std::string name;
  GivenValue value;
};

struct Settings {
  std::vector<AttributeSetting> attributes;
  std::vector<std::pair<std::string, std::string>> removed;  // attributes: node and name
  std::vector<ConstantSetting> constants;
};

struct SettingDone {
  std::string name;    // `w`, or `node:attribute`
  std::string before;  // empty: it was not there
  std::string after;   // empty: it is gone
  size_t users = 0;    // nodes that read the constant
};

// Sets attributes and constants in the type that the operator or the constant has; shapes that follow are inferred
// again. Names are looked for as in Scopes. Error (usage) for unknown names, values of another type or number of
// elements, and values that break a rule of an operator; after an Error the model must not be used.
std::vector<SettingDone> set(ir::Model& model, const Settings& settings);

}  // namespace assay::surgery
