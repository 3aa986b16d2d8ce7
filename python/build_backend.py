"""Builds the wheel for pip: CMake compiles, this file packs (PEP 517 and 427).

The compiled half runs on every machine of the same kind. For the instructions of this machine
alone, which are faster: pip install . --config-settings native=ON. To use a folder that CMake has
built in already: --config-settings build-dir=build.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parent.parent
NAME = "pgexplainer"
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
Settings = Optional[dict[str, Any]]


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None
) -> str:
    """Compiles and packs; gives the name of the wheel."""
    compiled = _compile(config_settings or {})
    info = _info()
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    files = {
        f"{NAME}/{path.relative_to(ROOT / 'python' / NAME)}": path.read_bytes()
        for path in sorted((ROOT / "python" / NAME).rglob("*"))
        if path.suffix in (".py", ".pyi") or path.name == "py.typed"
    }
    files[f"{NAME}/{compiled.name}"] = compiled.read_bytes()
    files[f"{info}/METADATA"] = _metadata()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    record = [f"{name},{_digest(content)},{len(content)}" for name, content in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    wheel = f"{NAME}-{_version()}-{tag}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Settings = None
) -> str:
    """What pip wants to know before anything is compiled."""
    folder = Path(metadata_directory) / _info()
    folder.mkdir()
    (folder / "METADATA").write_bytes(_metadata())
    return folder.name


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Packs what CMake needs."""
    name = f"{NAME}-{_version()}"
    with tarfile.open(Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as archive:
        for part in ("CMakeLists.txt", "LICENSE", "apps", "cmake", "pgexplainer", "pyproject.toml",
                     "python"):
            archive.add(ROOT / part, f"{name}/{part}", filter=_unless_cached)
    return f"{name}.tar.gz"


def _compile(settings: dict[str, Any]) -> Path:
    """The compiled half, in the folder of the build."""
    given = settings.get("build-dir")
    tag = sys.implementation.cache_tag
    folder = Path(given).resolve() if given else ROOT / "build" / f"pip-{tag}"
    if not given or not (folder / "CMakeCache.txt").exists():
        options = {
            "CMAKE_BUILD_TYPE": "Release",
            "PGEXPLAINER_NATIVE": settings.get("native", "OFF"),
            "PGEXPLAINER_TESTS": "OFF",
            "PGEXPLAINER_WITH_MPI": "OFF",
            "PGEXPLAINER_PYTHON": "ON",
            "Python_EXECUTABLE": sys.executable,
        }
        try:
            import pybind11
        except ImportError:  # CMake looks for the system's
            pass
        else:
            options["pybind11_DIR"] = pybind11.get_cmake_dir()
        defined = [f"-D{key}={value}" for key, value in options.items()]
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), *defined], check=True)
    subprocess.run(
        ["cmake", "--build", str(folder), "--target", "pgexplainer_python",
         "--parallel", str(os.cpu_count() or 1)], check=True,
    )
    compiled = folder / "python" / NAME / f"_core{SUFFIX}"
    if not compiled.exists():
        raise SystemExit(f"{folder} was built for another Python than {sys.executable}")
    return compiled


def _version() -> str:
    found = re.search(r"project\(pgexplainer VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    assert found
    return found.group(1)


def _info() -> str:
    return f"{NAME}-{_version()}.dist-info"


def _metadata() -> bytes:
    return (
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {_version()}\n"
        "Summary: Which edges made a graph neural network decide\n"
        "Requires-Python: >=3.9\nRequires-Dist: numpy\n"
    ).encode()


def _digest(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return "sha256=" + digest.rstrip(b"=").decode()


def _unless_cached(entry: tarfile.TarInfo) -> Optional[tarfile.TarInfo]:
    return None if "__pycache__" in entry.name else entry
