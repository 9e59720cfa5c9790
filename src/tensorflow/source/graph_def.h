#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "onnx/wire.h"
#include "tensorflow/source/model.h"

namespace assay::tensorflow {

// The model in a frozen graph: its placeholders are inputs, and values that no node uses are outputs, unless outputs
// are named. Error (parse): the file is damaged; (usage): there is no such output.
SourceModel read_graph_source(const std::shared_ptr<const MappedFile>& file, const std::vector<std::string>& outputs);

// The nodes and functions of a GraphDef, without inputs and outputs of the main graph.
void read_graph_def(const onnx::Message& message, const std::shared_ptr<const MappedFile>& file, SourceModel& model);
// Inputs of the main graph: its placeholders; outputs: those that are named, or those that nothing uses. Control flow
// of the first generation becomes that of the second.
void choose_ports(SourceModel& model, const std::vector<std::string>& outputs);
// Other outputs of the main graph: those that it has, by their names, or values. Error (usage): there is no such one.
void choose_outputs(SourceModel& model, const std::vector<std::string>& outputs);
// The name of a value as it is here: `node:0`, also of `node`.
std::string value_name(std::string_view written);

}  // namespace assay::tensorflow
