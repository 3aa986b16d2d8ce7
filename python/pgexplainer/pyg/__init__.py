"""PyTorch Geometric and pgexplainer: models converted in one line, explainers by one import.

    model = pgexplainer.pyg.convert(module)             # a native network, without Python code
    pgexplainer.pyg.save(module, "model.safetensors")   # for the command line and C++
    from pgexplainer.pyg import PGExplainer             # instead of torch_geometric.explain's
"""

try:
    import torch  # noqa: F401
    import torch_geometric  # noqa: F401
except ImportError as error:
    raise ImportError(f"pgexplainer.pyg needs torch and torch_geometric ({error}); the rest of "
                      "pgexplainer does not") from error

from pgexplainer.pyg.convert import convert, save
from pgexplainer.pyg.explainers import GNNExplainer, PGExplainer

__all__ = ["GNNExplainer", "PGExplainer", "convert", "save"]
