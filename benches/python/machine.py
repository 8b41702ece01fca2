"""What a figure was measured on, since it means nothing without."""

import os
import platform
import subprocess
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import burnpy

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("numpy", "ml-dtypes", "safetensors", "torch", "jax", "h5py")


def description(folders: dict[str, Path]) -> dict[str, str]:
    """Machine, system and versions, as text by name."""
    packages = [f"{name} {found}" for name in PACKAGES if (found := _version(name))]
    return {
        "date": date.today().isoformat(),
        "cpu": f"{cpu()}, {os.cpu_count()} cores, {simd()}",
        "memory": f"{_memory_gib():.0f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "huge pages": _read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "places": ", ".join(f"{name}: {_filesystem(folder)}" for name, folder in folders.items()),
        "python": platform.python_version(),
        "packages": ", ".join([f"burnpy {burnpy.__version__}", *packages]),
        "burn-pack": "0.22.1",
        "commit": commit(),
    }


def cpu() -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def simd() -> str:
    flags = set(_read("/proc/cpuinfo").split())
    return next((name for name in ("avx512f", "avx2", "sse2") if name in flags), platform.machine())


def commit() -> str:
    """The commit, with a mark when the checkout holds anything else."""
    described = ["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    done = subprocess.run(described, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def slug() -> str:
    """Date and CPU, for the name of a record."""
    words = "".join(char if char.isalnum() else " " for char in cpu().lower()).split()
    return f"{date.today().isoformat()}-{'-'.join(words)}-{simd()}"


def _memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)


def _filesystem(folder: Path) -> str:
    """The type of the file system that holds the folder: of all mount points above it the deepest."""
    best, kind = "", "unknown"
    for line in _read("/proc/mounts").splitlines():
        _, mount, found, *_ = line.split()
        if folder.resolve().is_relative_to(mount) and len(mount) >= len(best):
            best, kind = mount, found
    return kind


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
