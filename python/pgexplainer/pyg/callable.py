"""A module that cannot be converted, called as it is: masks are PyG's, set on its layers."""

from __future__ import annotations

from typing import Any, Dict, Optional

import torch
from torch import Tensor, nn
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks
from torch_geometric.explain.config import (
    ModelConfig,
    ModelMode,
    ModelReturnType,
    ModelTaskLevel,
)
from torch_geometric.utils import get_embeddings

import pgexplainer


def callable_model(module: nn.Module, config: ModelConfig, edges: Tensor, kwargs: Dict[str, Any]
                   ) -> pgexplainer.CallableModel:
    """The module as a pgexplainer.CallableModel. edges, kwargs: what it was called with."""
    level = config.task_level
    if level == ModelTaskLevel.edge:
        raise pgexplainer.Error(
            "links are explained for networks that can be converted: the dot product "
            "(z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1) of a supported encoder")
    extra = {name: value for name, value in kwargs.items() if name != "batch"}

    def call(x: Tensor, edge_index: Tensor, batch: Optional[Tensor]) -> Tensor:
        if extra and not torch.equal(edge_index, edges):  # whose rows would they be?
            raise pgexplainer.Error(f"the arguments {', '.join(extra)} of a module that is called "
                                    "as it is belong to the graph that they came with")
        given = {**extra, "batch": batch} if "batch" in kwargs else extra
        return logits(module(x, edge_index, **given), config)

    def predict(x: Tensor, edge_index: Tensor, edge_mask: Tensor, batch: Optional[Tensor]
                ) -> Tensor:
        set_masks(module, edge_mask, edge_index, apply_sigmoid=False)
        try:
            return call(x, edge_index, batch)
        finally:
            clear_masks(module)

    def embed(x: Tensor, edge_index: Tensor) -> Tensor:
        given = {"batch": torch.zeros(len(x), dtype=torch.long)} if "batch" in kwargs else {}
        return get_embeddings(module, x, edge_index, **extra, **given)[-1]

    return pgexplainer.CallableModel(predict, embed, task=level.value)


def logits(out: Tensor, config: ModelConfig) -> Tensor:
    """What the module returns as rows of logits."""
    probabilities = config.return_type == ModelReturnType.probs
    if config.mode == ModelMode.binary_classification:
        return torch.logit(out, eps=1e-7) if probabilities else out
    return out.clamp(min=torch.finfo(out.dtype).tiny).log() if probabilities else out
