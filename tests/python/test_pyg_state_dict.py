"""Weights under PyG's state_dict names give PyG's logits. Needs no PyG.

pyg_models.npz has, of each model of torch_geometric.nn (version 2.8), the state_dict with other
weights than those of a new model, and `out`, its output on x and edge_index in evaluation mode.
"""

from pathlib import Path

import numpy as np
import pytest

import pgexplainer as pgx

ARRAYS = np.load(Path(__file__).with_name("pyg_models.npz"))


def conv(kind, k, out_channels, **options):
    return {"type": kind, "name": f"convs.{k}", "out_channels": out_channels, **options}


def batch_norm(k):
    return {"type": "BatchNorm", "name": f"norms.{k}.module"}


def gin(k, out_channels):
    """The MLP of PyG's GIN, with the batch norm that it shares with the model, as layers."""
    inner = f"convs.{k}.nn"
    return [{"type": "GINConv", "name": f"convs.{k}", "mlp": False},
            {"type": "Linear", "name": f"{inner}.lins.0", "out_channels": out_channels},
            {"type": "BatchNorm", "name": f"{inner}.norms.0.module"},
            {"type": "ReLU"},
            {"type": "Linear", "name": f"{inner}.lins.1", "out_channels": out_channels}]


RELU = {"type": "ReLU"}
LINEAR = {"type": "Linear", "name": "lin", "out_channels": 3}

NETWORKS = {
    "gcn": {  # GCN(5, 6, 2, 3, norm="batch_norm", jk="cat")
        "blocks": [[conv("GCNConv", k, 6), batch_norm(k), RELU] for k in range(2)],
        "jumping_knowledge": "cat",
        "classifier": [LINEAR],
    },
    "sage": {  # GraphSAGE(5, 6, 2, 3, act="elu")
        "blocks": [[conv("SAGEConv", 0, 6), {"type": "ELU"}], [conv("SAGEConv", 1, 3)]],
        "classifier": [],
    },
    "gin": {  # GIN(5, 6, 2, 3, norm="batch_norm")
        "blocks": [[*gin(0, 6), batch_norm(0), RELU], gin(1, 3)],
        "classifier": [],
    },
    "gat": {  # GAT(5, 6, 2, 3, heads=2, jk="max"): a head has 6 / 2 columns
        "blocks": [[conv("GATConv", k, 3, heads=2), RELU] for k in range(2)],
        "jumping_knowledge": "max",
        "classifier": [LINEAR],
    },
    "gatv2": {  # GAT(5, 6, 2, 3, heads=2, v2=True, norm="layer_norm"): the last layer averages
        "blocks": [[conv("GATv2Conv", 0, 3, heads=2), {"type": "LayerNorm", "name": "norms.0"},
                    RELU],
                   [conv("GATv2Conv", 1, 3, heads=2, concat=False)]],
        "classifier": [],
    },
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_state_dict_gives_the_logits_of_pyg(name):
    arrays = {key.split("/")[1]: ARRAYS[key] for key in ARRAYS if key.startswith(name + "/")}
    expected = arrays.pop("out")
    model = pgx.Model({"task": "node", "in_channels": 5, "num_classes": 3, **NETWORKS[name]},
                      arrays)
    logits = model.predict(pgx.Graph(ARRAYS["edge_index"], ARRAYS["x"]))
    np.testing.assert_allclose(logits, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
