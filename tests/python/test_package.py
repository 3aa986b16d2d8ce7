"""What surrounds the code: examples, types, installation."""

import doctest
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pgexplainer as pgx

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["pgexplainer"] + [f"pgexplainer.{m.name}" for m in pkgutil.iter_modules(pgx.__path__)
                             if m.name not in ("_core", "pyg")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name):
    if name.endswith("callable_model"):
        pytest.importorskip("torch")
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_the_page_is_true(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "python.md"
    assert doctest.testfile(str(page), module_relative=False).failed == 0


def test_everything_public_says_what_it_does():
    for name in pgx.__all__:
        assert getattr(pgx, name).__doc__, name


def test_types_are_right():
    mypy = shutil.which("mypy")
    if mypy is None:
        pytest.skip("mypy is not installed")
    checked = subprocess.run(
        [mypy, "--config-file", ROOT / "pyproject.toml", "--cache-dir", os.devnull,
         "--python-executable", sys.executable, ROOT / "python" / "build_backend.py",
         *sorted((ROOT / "python" / "pgexplainer").glob("*.py*"))],
        capture_output=True, text=True, cwd=ROOT,
    )
    assert checked.returncode == 0, checked.stdout


def test_pip_installs_the_package(tmp_path):
    build = Path(os.environ.get("PGEXPLAINER_BUILD", ROOT / "build"))
    if not (build / "CMakeCache.txt").exists() or shutil.which("cmake") is None:
        pytest.skip("there is no build to install")
    pytest.importorskip("pip")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps",
         "--no-cache-dir", "--no-index", "--target", tmp_path / "site",
         "--config-settings", f"build-dir={build}", ROOT],
        check=True, capture_output=True, timeout=300,
    )
    shown = subprocess.run(
        [sys.executable, "-c", "import pgexplainer as pgx; print(pgx.__file__, pgx.Graph)"],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")}, cwd=tmp_path,
        check=True, capture_output=True, text=True,
    ).stdout
    assert shown.startswith(str(tmp_path / "site"))
    assert (tmp_path / "site" / "pgexplainer" / "py.typed").exists()
