#!/usr/bin/env python3
"""A PyG user's first five minutes: train a GCN in PyTorch, explain it three ways, look at pictures.

    python3 examples/pyg_first_five_minutes.py [FOLDER]

Needs torch and torch_geometric. Writes the converted model and pictures to FOLDER (pyg_example).
"""

import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch_geometric.explain import Explainer, ModelConfig
from torch_geometric.nn import GCN

import pgexplainer as pgx
from pgexplainer import pyg

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pyg_example")
folder.mkdir(parents=True, exist_ok=True)

# Some data: a random graph of 150 nodes with 40 houses of five nodes attached. The class of a node
# is its place in a house; its feature here is its degree.
data = pgx.generate("ba-shapes", seed=0, base_nodes=150, num_motifs=40)
edge_index = torch.tensor(data.edge_index).long()
y = torch.tensor(data.y).long()
degree = torch.bincount(edge_index[1], minlength=len(y)).clamp(max=9)
x = F.one_hot(degree, 10).float()

# 1. Your network, trained as you always do.
torch.manual_seed(0)
network = GCN(in_channels=10, hidden_channels=20, num_layers=3, out_channels=4, jk="cat")
optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
for epoch in range(200):
    optimizer.zero_grad()
    loss = F.cross_entropy(network(x, edge_index), y)
    loss.backward()
    optimizer.step()
network.eval()
accuracy = (network(x, edge_index).argmax(-1) == y).float().mean()
print(f"trained: accuracy {accuracy:.3f}")

# 2. Inside PyG: change one import. `.fit` replaces the training loop (which works as well).
nodes = torch.arange(150, 350, 3)
explainer = Explainer(
    model=network,
    algorithm=pyg.PGExplainer(epochs=30, lr=0.003),  # instead of torch_geometric.explain's
    explanation_type="model",
    edge_mask_type="object",
    model_config=ModelConfig(mode="multiclass_classification", task_level="node",
                             return_type="raw"),
)
explainer.algorithm.fit(network, x, edge_index, index=nodes)
explanation = explainer(x, edge_index, index=150)
print("inside PyG:", explanation)
print("how far to trust it:", explainer.algorithm.report["verdict"]["words"])

# 3. Or convert the network and leave Python behind: pictures, choices of edges, metrics.
model = pyg.convert(network)
graph = pgx.Graph(edge_index, x, y, edge_gt=data.edge_gt)
native = pgx.PGExplainer(epochs=30, lr=0.003).fit(model, graph, nodes)
for node in (150, 151, 154):
    best = native.explain(graph, node).topk(6)
    best.plot(folder / f"node{node}.svg")
    print(best)
print(f"AUC against the planted houses: {pgx.metrics.auc(native.explain(graph, nodes)):.3f}")

# 4. Or take it to the command line and to C++.
pyg.save(network, folder / "model.safetensors")
native.save(folder / "explainer.safetensors")
graph.save(folder / "data.npz")
print(f"{folder}: now try")
print(f"  pgexplainer explain --data {folder}/data.npz --model {folder}/model.safetensors "
      f"--explainer {folder}/explainer.safetensors --instances 150 -o node150.svg")
