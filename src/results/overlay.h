#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "results/scene.h"

namespace assay::results {

// One number of an item or of a value.
struct OverlayField {
  std::string name;
  std::string unit;
  std::string scale;  // `log`, `linear`, `diverging`
  std::string description;
};

// The numbers of one field of one side; NaN: not observed.
struct OverlayColumn {
  std::string side;
  std::string field;
  bool is_of_values = false;  // of values of the scene, otherwise of its items
  std::vector<float> numbers;
};

// Items that belong together: the nodes of a layer, or nodes that are judged as one.
struct OverlayGroup {
  std::string label;
  std::string state;
  std::vector<uint32_t> items;
};

// A finding about an item, or about the whole (kNoItem).
struct OverlayNote {
  uint32_t item = kNoItem;
  std::string severity;  // `error`, `warning`, `info`
  std::string code;
  std::string text;
  std::string command;  // that mends it
};

// A row of a table: words by column, numbers by column, and what it is about.
struct OverlayRow {
  std::vector<std::pair<std::string, std::string>> words;
  std::vector<std::pair<std::string, double>> numbers;
  std::vector<uint32_t> items;
};

// A stretch of time on a lane, in microseconds.
struct OverlaySpan {
  uint16_t lane = 0;
  double start = 0;
  double length = 0;
  uint32_t item = kNoItem;
  std::string text;
};

// A value in memory, from one step to another, both included.
struct OverlayBlock {
  uint32_t start = 0;
  uint32_t end = 0;
  uint32_t item = kNoItem;
  double address = 0;
  double bytes = 0;
  std::string text;
};

// A report as it concerns the boxes of a scene.
struct Overlay {
  std::string title;
  std::string source;  // the file, or the command
  std::string
      what;  // `accuracy`, `run`, `time`, `plan`, `lint`, `compatibility`, `range`, `difference`, `steps`, `data`
  size_t scene = 0;
  std::vector<std::string> sides;
  std::vector<OverlayField> fields;
  std::vector<OverlayColumn> columns;
  std::vector<OverlayGroup> groups;
  std::vector<OverlayNote> notes;
  std::vector<OverlayRow> table;
  std::vector<std::string> lanes;
  std::vector<OverlaySpan> spans;
  std::vector<OverlayBlock> blocks;
  std::vector<std::pair<std::string, double>> numbers;     // of the whole
  std::vector<std::pair<std::string, std::string>> words;  // likewise
};

}  // namespace assay::results
