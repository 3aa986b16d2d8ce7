"""A small dataset with its network and fitted explainer, made once for all tests."""

import os
from pathlib import Path

import pytest

import pgexplainer as pgx


@pytest.fixture(scope="session")
def data() -> pgx.Graph:
    return pgx.generate("ba-shapes", seed=0, base_nodes=60, num_motifs=12)


@pytest.fixture(scope="session")
def model(data: pgx.Graph) -> pgx.Model:
    return pgx.train(data, epochs=300)


@pytest.fixture(scope="session")
def explainer(model: pgx.Model, data: pgx.Graph) -> pgx.PGExplainer:
    return pgx.PGExplainer(epochs=10, seed=3).fit(model, data)


@pytest.fixture(scope="session")
def graphs() -> pgx.Dataset:
    return pgx.generate("ba-2motifs", seed=0, num_graphs=60)


@pytest.fixture(scope="session")
def graph_model(graphs: pgx.Dataset) -> pgx.Model:
    return pgx.train(graphs, epochs=20, lr=0.01)


@pytest.fixture(scope="session")
def tool() -> Path:
    path = Path(os.environ.get("PGEXPLAINER_TOOL", "build/pgexplainer")).resolve()
    if not path.exists():
        pytest.skip(f"the tool {path} is not built")
    return path
