"""The build backend (PEP 517) of pyproject.toml: CMake makes the package, this packs it. It needs nothing but Python,
CMake and a C compiler, so `pip install .` works without a network.

The wheel carries the portable library and the OpenMP runtime it was linked with; beyond that it needs libc and libm.
PESS_BUILD names a build directory to use; by default build-wheel.
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
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SYSTEM_LIBRARIES = re.compile(r"(libc|libm|libpthread|libdl|librt|ld-linux[\w-]*)\.so")


def version() -> str:
    return re.search(r'#define PESS_VERSION "(.*?)"', (ROOT / "include/pess/base.h").read_text())[1]


def run(*command: str) -> None:
    """Without what pip hides from a build: the system's Python writes the stubs with the system's NumPy."""
    hidden = ("PYTHONPATH", "PYTHONNOUSERSITE")
    subprocess.run(command, check=True, env={key: value for key, value in os.environ.items() if key not in hidden})


def build() -> Path:
    """The directory of the finished package."""
    directory = Path(os.environ.get("PESS_BUILD") or ROOT / "build-wheel").resolve()
    if not (directory / "CMakeCache.txt").exists():
        options = ["-DPESS_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Release"]
        if in_conda():
            options.append(f"-DPESS_PYTHON={sys.executable}")
        run("cmake", "-S", str(ROOT), "-B", str(directory), *options)
    run("cmake", "--build", str(directory), "-j", str(os.cpu_count()), "--target", "pess_package")
    return directory / "python" / "pessimist"


def in_conda() -> bool:
    """Whether conda builds its own package: its Python is the one to use, and it brings the libraries along."""
    return os.environ.get("CONDA_BUILD") == "1"


def bundled(library: Path) -> list[Path]:
    """Libraries that the wheel must bring along: all but those of the system's C library."""
    if in_conda():
        return []
    found = subprocess.run(["ldd", str(library)], check=True, capture_output=True, text=True).stdout
    paths = [Path(path) for name, path in re.findall(r"(\S+) => (/\S+)", found) if not SYSTEM_LIBRARIES.match(name)]
    for path in paths:
        if not path.name.startswith(("libgomp", "libomp")):
            raise SystemExit(f"the wheel's library needs {path.name}, which is no part of libc, libm or OpenMP")
    return paths


def metadata() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version()}"]
    lines += [f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}"]
    lines += [f"License: {project['license']['text']}", f"Keywords: {','.join(project['keywords'])}"]
    lines += [f"Classifier: {one}" for one in project["classifiers"]]
    lines += [f"Project-URL: {name}, {url}" for name, url in project.get("urls", {}).items()]
    lines += [f"Requires-Dist: {one}" for one in project["dependencies"]]
    for extra, needs in project.get("optional-dependencies", {}).items():
        lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {one} ; extra == '{extra}'" for one in needs)]
    readme = (ROOT / project["readme"]).read_text()
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", readme])


def entry_points() -> str:
    """What other packages find: Gymnasium calls what is listed under gymnasium.envs."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    sections = (f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in rows.items()) for group, rows in groups.items())
    return "\n".join(sections)


def tag() -> str:
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def write_wheel(path: Path, package: Path) -> None:
    """A zip with every file's SHA-256 in RECORD; dates are fixed, so that the same files give the same bytes."""
    info = f"pessimist-{version()}.dist-info"
    records = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name: str, content: bytes, mode: int = 0o644) -> None:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            records.append(f"{name},sha256={digest},{len(content)}")

        files = [f for f in sorted(package.iterdir()) if f.is_file() and ".pyc" not in f.name]
        for file in [*files, *bundled(package / "libpess.so")]:
            add(f"pessimist/{file.name}", file.read_bytes(), 0o755 if ".so" in file.name else 0o644)
        add(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())
        add(f"{info}/METADATA", metadata().encode())
        add(f"{info}/entry_points.txt", entry_points().encode())
        wheel = f"Wheel-Version: 1.0\nGenerator: pessimist\nRoot-Is-Purelib: false\nTag: {tag()}\n"
        add(f"{info}/WHEEL", wheel.encode())
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD"), "\n".join([*records, f"{info}/RECORD,,", ""]))


def get_requires_for_build_wheel(config_settings: object = None) -> list[str]:
    return []


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    name = f"pessimist-{version()}-{tag()}.whl"
    write_wheel(Path(wheel_directory, name), build())
    return name


def get_requires_for_build_sdist(config_settings: object = None) -> list[str]:
    return []


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    name = f"pessimist-{version()}"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    with tarfile.open(Path(sdist_directory, f"{name}.tar.gz"), "w:gz") as archive:
        for file in listed.splitlines():
            archive.add(ROOT / file, f"{name}/{file}")
    return f"{name}.tar.gz"
