"""The page, the docstrings and the example do what they say."""

import doctest
import importlib
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed")

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "from_pyg.md"
    assert doctest.testfile(str(page), module_relative=False).failed == 0


@pytest.mark.parametrize("name", ["convert", "explainers"])
def test_examples_are_true(name):
    result = doctest.testmod(importlib.import_module(f"pgexplainer.pyg.{name}"))
    assert result.attempted > 0 and result.failed == 0


def test_the_first_five_minutes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["pyg_first_five_minutes.py", str(tmp_path)])
    runpy.run_path(str(ROOT / "examples" / "pyg_first_five_minutes.py"))
    assert (tmp_path / "node150.svg").stat().st_size > 1000
    said = re.search(r"AUC against the planted houses: ([\d.]+)", capsys.readouterr().out)
    assert said is not None and float(said[1]) > 0.9


def test_types_are_right():
    mypy, config = shutil.which("mypy"), ROOT / "pyproject.toml"
    if mypy is None or not config.exists():
        pytest.skip("mypy or its settings are missing")
    checked = subprocess.run(
        [mypy, "--config-file", config, "--cache-dir", os.devnull,
         "--python-executable", sys.executable,
         *sorted((ROOT / "python" / "pgexplainer" / "pyg").glob("*.py"))],
        capture_output=True, text=True, cwd=ROOT)
    assert checked.returncode == 0, checked.stdout
