"""Who is measured: the same few verbs for every library that can save named arrays."""

import importlib.util
import io
import os
import pickle
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Arrays = Mapping[str, np.ndarray]


class Peer:
    """One library. A verb that a library lacks raises ``NotImplementedError`` and has no entry in the table."""

    name: str
    module: str
    suffix: str
    holds_bf16 = True
    holds_many = True

    @classmethod
    def is_installed(cls) -> bool:
        return importlib.util.find_spec(cls.module) is not None

    def tensors(self, arrays: Arrays) -> Any:
        """The arrays as this library's user has them."""
        return dict(arrays)

    def arrays(self, loaded: Any) -> Arrays:
        """What a load gave, as arrays over the same memory."""
        return loaded

    def save(self, tensors: Any, path: Path) -> None:
        raise NotImplementedError

    def save_durable(self, tensors: Any, path: Path) -> None:
        """Saves, then waits until the disk has the file and its name."""
        self.save(tensors, path)
        for item in (path, path.parent):
            handle = os.open(item, os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)

    def names(self, path: Path) -> Iterable[str]:
        return list(self.load(path))

    def load(self, path: Path) -> Any:
        """All tensors in the laziest way that the library has."""
        raise NotImplementedError

    def load_copy(self, path: Path) -> Any:
        """All tensors in private, writable memory."""
        return self.load(path)

    def one(self, path: Path, name: str) -> Any:
        return self.load(path)[name]

    def one_copy(self, path: Path, name: str) -> Any:
        return self.one(path, name)

    def to_bytes(self, tensors: Any) -> Any:
        raise NotImplementedError

    def from_bytes(self, data: Any) -> Any:
        raise NotImplementedError

    def convert(self, source: Path, target: Path) -> None:
        """Writes a checkpoint in the format of the target's suffix."""
        raise NotImplementedError


class Burnpy(Peer):
    name = "burnpy"
    module = "burnpy"
    suffix = ".bpk"

    def __init__(self) -> None:
        import burnpy
        import burnpy.numpy

        self.api = burnpy.numpy
        self.safe_open = burnpy.safe_open

    def save(self, tensors: Any, path: Path) -> None:
        self.api.save_file(tensors, path)

    def save_durable(self, tensors: Any, path: Path) -> None:
        self.api.save_file(tensors, path, durable=True)

    def names(self, path: Path) -> Iterable[str]:
        with self.safe_open(path) as file:
            return file.keys()

    def load(self, path: Path) -> Any:
        return self.api.load_file(path)

    def load_copy(self, path: Path) -> Any:
        return self.api.load_file(path, copy=True)

    def one(self, path: Path, name: str) -> Any:
        with self.safe_open(path) as file:
            return file.get_tensor(name)

    def one_copy(self, path: Path, name: str) -> Any:
        with self.safe_open(path) as file:
            return np.array(file[name])

    def to_bytes(self, tensors: Any) -> Any:
        return self.api.save(tensors)

    def from_bytes(self, data: Any) -> Any:
        return self.api.load(data)


class Safetensors(Peer):
    name = "safetensors.numpy"
    module = "safetensors"
    suffix = ".safetensors"
    holds_bf16 = False
    framework = "numpy"

    def __init__(self) -> None:
        import safetensors
        import safetensors.numpy

        self.api: Any = safetensors.numpy
        self.safe_open = safetensors.safe_open

    def save(self, tensors: Any, path: Path) -> None:
        self.api.save_file(tensors, path)

    def names(self, path: Path) -> Iterable[str]:
        with self.safe_open(path, self.framework) as file:
            return file.keys()

    def load(self, path: Path) -> Any:
        return self.api.load_file(path)

    def one(self, path: Path, name: str) -> Any:
        with self.safe_open(path, self.framework) as file:
            return file.get_tensor(name)

    def to_bytes(self, tensors: Any) -> Any:
        return self.api.save(tensors)

    def from_bytes(self, data: Any) -> Any:
        return self.api.load(data)


class _TorchTensors:
    """torch tensors over the memory of the arrays, and back."""

    def tensors(self, arrays: Arrays) -> Any:
        return {name: self._tensor(array) for name, array in arrays.items()}

    def _tensor(self, array: np.ndarray) -> Any:
        import torch

        if array.dtype.name == "bfloat16":  # torch.from_numpy does not know ml_dtypes
            return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
        return torch.from_numpy(array)

    def arrays(self, loaded: Any) -> Arrays:
        import torch

        # As bytes: NumPy has no bf16 of its own.
        return {name: tensor.reshape(-1).view(torch.uint8).numpy() for name, tensor in loaded.items()}


class SafetensorsTorch(_TorchTensors, Safetensors):
    name = "safetensors.torch"
    module = "torch"
    holds_bf16 = True
    framework = "pt"

    def __init__(self) -> None:
        super().__init__()
        import safetensors.torch

        self.api = safetensors.torch

    def load_copy(self, path: Path) -> Any:
        return {name: tensor.clone() for name, tensor in self.load(path).items()}

    def one_copy(self, path: Path, name: str) -> Any:
        return self.one(path, name).clone()


class Torch(_TorchTensors, Peer):
    name = "torch"
    module = "torch"
    suffix = ".pt"

    def __init__(self) -> None:
        import torch

        self.api = torch

    def save(self, tensors: Any, path: Path) -> None:
        self.api.save(tensors, path)

    def load(self, path: Path) -> Any:
        return self.api.load(path, mmap=True, weights_only=True)

    def load_copy(self, path: Path) -> Any:
        return self.api.load(path, mmap=False, weights_only=True)

    def one_copy(self, path: Path, name: str) -> Any:
        return self.one(path, name).clone()

    def to_bytes(self, tensors: Any) -> Any:
        out = io.BytesIO()
        self.api.save(tensors, out)
        return out.getbuffer()

    def from_bytes(self, data: Any) -> Any:
        return self.api.load(io.BytesIO(data), weights_only=True)


class Npz(Peer):
    name = "numpy.npz"
    module = "numpy"
    suffix = ".npz"
    holds_bf16 = False  # comes back as two raw bytes

    def save(self, tensors: Any, path: Path) -> None:
        np.savez(path, **tensors)

    def names(self, path: Path) -> Iterable[str]:
        with np.load(path) as archive:
            return archive.files

    def load(self, path: Path) -> Any:
        with np.load(path) as archive:
            return {name: archive[name] for name in archive.files}

    def one(self, path: Path, name: str) -> Any:
        with np.load(path) as archive:
            return archive[name]

    def to_bytes(self, tensors: Any) -> Any:
        out = io.BytesIO()
        np.savez(out, **tensors)
        return out.getbuffer()

    def from_bytes(self, data: Any) -> Any:
        with np.load(io.BytesIO(data)) as archive:
            return {name: archive[name] for name in archive.files}


class Npy(Peer):
    """A file of a single array; where a case has more, it holds the one that is asked for."""

    name = "numpy.npy"
    module = "numpy"
    suffix = ".npy"
    holds_bf16 = False
    holds_many = False

    def save(self, tensors: Any, path: Path) -> None:
        (array,) = tensors.values()
        np.save(path, array)

    def names(self, path: Path) -> Iterable[str]:
        raise NotImplementedError

    def load(self, path: Path) -> Any:
        return {"": np.load(path, mmap_mode="r")}

    def load_copy(self, path: Path) -> Any:
        return {"": np.load(path)}

    def one(self, path: Path, name: str) -> Any:
        return np.load(path, mmap_mode="r")

    def one_copy(self, path: Path, name: str) -> Any:
        return np.load(path)

    def to_bytes(self, tensors: Any) -> Any:
        out = io.BytesIO()
        np.save(out, *tensors.values())
        return out.getbuffer()

    def from_bytes(self, data: Any) -> Any:
        return {"": np.load(io.BytesIO(data))}


class Pickle(Peer):
    name = "pickle"
    module = "pickle"
    suffix = ".pickle"

    def save(self, tensors: Any, path: Path) -> None:
        with path.open("wb") as file:
            pickle.dump(tensors, file, protocol=5)

    def load(self, path: Path) -> Any:
        with path.open("rb") as file:
            return pickle.load(file)

    def to_bytes(self, tensors: Any) -> Any:
        return pickle.dumps(tensors, protocol=5)

    def from_bytes(self, data: Any) -> Any:
        return pickle.loads(data)


class H5py(Peer):
    name = "h5py"
    module = "h5py"
    suffix = ".h5"
    holds_bf16 = False

    def __init__(self) -> None:
        import h5py

        self.File = h5py.File

    def save(self, tensors: Any, path: Any) -> None:
        with self.File(path, "w") as file:
            for name, array in tensors.items():
                file.create_dataset(name, data=array)

    def names(self, path: Path) -> Iterable[str]:
        with self.File(path, "r") as file:
            return list(file)

    def load(self, path: Any) -> Any:
        with self.File(path, "r") as file:
            return {name: dataset[()] for name, dataset in file.items()}

    def one(self, path: Path, name: str) -> Any:
        with self.File(path, "r") as file:
            return file[name][()]

    def to_bytes(self, tensors: Any) -> Any:
        out = io.BytesIO()
        self.save(tensors, out)
        return out.getbuffer()

    def from_bytes(self, data: Any) -> Any:
        return self.load(io.BytesIO(data))


PEERS: dict[str, type[Peer]] = {
    peer.name: peer for peer in (Burnpy, Safetensors, SafetensorsTorch, Torch, Npz, Npy, Pickle, H5py)
}
"""By name, burnpy first. Burn's own burn-pack runs in a process of its own: see ``burn_pack.py``."""
