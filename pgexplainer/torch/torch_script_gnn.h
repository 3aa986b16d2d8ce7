// Any network that PyTorch can save as TorchScript, evaluated and differentiated by libtorch. It is
// built as a plug-in, since libtorch takes half a second to load: io/gnn_file.h opens it when a
// file asks for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "pgexplainer/model/gnn.h"

namespace pgexplainer {

/// The module's forward(x, edge_index, edge_weight[, batch]) gives the logits: one row per node, or
/// one per graph of `batch`. A single column s becomes the logits (0, s), so that softmax gives its
/// sigmoid. edge_weight is the mask times the data's weights: the module says what a weaker edge
/// means. An int attribute num_hops says how far a node's row reaches; without it, the whole graph.
///
/// embed(...), with the same arguments, gives Z; every Embedding is that one, the rows of
/// all_layers shortened. Without it, Z is what the last linear layer reads (nodes), or the last
/// rows of nodes before the pooling (graphs).
///
/// Throws, naming the file, unless the module runs on this data, gives the same logits twice, and
/// these depend on edge_weight, with a gradient. The task is the data's.
std::shared_ptr<const Gnn> read_torch_script(const std::filesystem::path& path,
                                             const Dataset& dataset);

/// What a file says of itself, before it meets data.
struct TorchScriptInfo {
  std::string forward;          ///< its signature
  std::string embed;            ///< likewise; empty = the module has none
  std::int64_t parameters = 0;  ///< numbers in all of them
  int num_hops = Gnn::kWholeGraph;
};
TorchScriptInfo describe_torch_script(const std::filesystem::path& path);

/// What the plug-in offers, under the one name that is looked up in it.
struct TorchPlugin {
  decltype(&read_torch_script) read;
  decltype(&describe_torch_script) describe;
};
extern "C" const TorchPlugin pgexplainer_torch_plugin;

}  // namespace pgexplainer
