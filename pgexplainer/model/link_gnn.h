// Link prediction on top of a network for nodes: P(link u-v) = sigmoid(<h_u, h_v>), where h is the
// network's output row of a node. This is the dot-product decoder of PyG's link prediction examples
// and of the graph autoencoder (Kipf and Welling, "Variational Graph Auto-Encoders", 2016).
#pragma once

#include <memory>

#include "pgexplainer/model/gnn.h"

namespace pgexplainer {

/// A network of two classes, 0 = no link and 1 = link, for instances that are pairs of nodes,
/// whether or not they are linked. Its logits are (0, <h_u, h_v>), so that softmax gives the
/// sigmoid. forward() throws for an input that is not the computation graph of a pair.
///
/// Throws if the encoder classifies graphs, or if its rows depend on every node: the input then is
/// the whole graph, which does not tell the pair.
std::unique_ptr<Gnn> make_link_gnn(std::shared_ptr<const Gnn> encoder);

}  // namespace pgexplainer
