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


def callable_model(module: nn.Module, config: ModelConfig, x: Tensor, edge_index: Tensor,
                   kwargs: Dict[str, Any]) -> pgexplainer.CallableModel:
    """The module as a pgexplainer.CallableModel. x, edge_index and kwargs: of the first call."""
    level = config.task_level
    if level == ModelTaskLevel.edge:
        raise pgexplainer.Error(
            "links are explained for networks that can be converted: the dot product "
            "(z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1) of a supported encoder")
    extra = {name: value for name, value in kwargs.items() if name != "batch"}
    if extra and level == ModelTaskLevel.graph:
        raise pgexplainer.Error(f"the arguments {', '.join(extra)} cannot be given to a graph-level "
                                "module that is called as it is")

    def arguments(batch: Optional[Tensor]) -> Dict[str, Any]:
        return {**extra, "batch": batch} if "batch" in kwargs else extra

    def predict(x: Tensor, edge_index: Tensor, edge_mask: Optional[Tensor],
                batch: Optional[Tensor]) -> Tensor:
        if edge_mask is not None:
            set_masks(module, edge_mask, edge_index, apply_sigmoid=False)
        try:
            return logits(module(x, edge_index, **arguments(batch)), config)
        finally:
            clear_masks(module)

    def embed(x: Tensor, edge_index: Tensor, batch: Optional[Tensor]) -> Tensor:
        return get_embeddings(module, x, edge_index, **arguments(batch))[-1]

    training = module.training
    module.eval()
    with torch.no_grad():
        num_classes = logits(module(x, edge_index, **kwargs), config).shape[-1]
    module.train(training)
    return pgexplainer.CallableModel(predict, embed, task=level.value, num_features=x.shape[1],
                                     num_classes=num_classes)


def logits(out: Tensor, config: ModelConfig) -> Tensor:
    """What the module returns as rows of logits."""
    tiny = torch.finfo(out.dtype).tiny
    if config.mode == ModelMode.binary_classification:
        out = out.reshape(-1, 1)
        if config.return_type == ModelReturnType.probs:
            out = torch.logit(out, eps=1e-7)
        return torch.cat([torch.zeros_like(out), out], dim=-1)
    if out.dim() == 1:
        out = out.view(-1, 1)
    if config.return_type == ModelReturnType.probs:
        return out.clamp(min=tiny).log()
    return out
