"""The forward pass of a model that is not trained any more: burnpy's module, and the network in torch and jax."""

import sys
from collections.abc import Callable
from typing import Any

from benches.python.networks import Params, data, jax_forward, torch_forward, torch_inputs

Pass = Callable[[], Any]


def inference_calls(name: str, threads: int, peers: list[str]) -> dict[str, Pass]:
    """All with the parameters of burnpy's module; their outputs are compared before anything is timed."""
    own, values = burnpy_pass(name, threads)
    calls = {"burnpy": own}
    if "torch" in peers:
        calls |= torch_passes(name, threads, values, compiled="torch compiled" in peers)
    if "jax" in peers:
        calls["jax"] = jax_pass(name, values)
    return _agreeing(name, calls)


def _agreeing(name: str, calls: dict[str, Pass]) -> dict[str, Pass]:
    import numpy as np

    expected = calls["burnpy"]().numpy()
    for peer, call in list(calls.items())[1:]:
        try:
            found = call()
        except Exception as error:
            # torch compiles at the first call, for which not every machine has what it takes.
            if peer != "torch compiled":
                raise
            print(f"{name}: {peer} is left out: {str(error).splitlines()[:1]}", file=sys.stderr)
            del calls[peer]
            continue
        array = found.detach().numpy() if hasattr(found, "detach") else np.asarray(found)
        np.testing.assert_allclose(array, expected, rtol=1e-3, atol=1e-4, err_msg=f"{name}, {peer}")
    return calls


def burnpy_pass(name: str, threads: int) -> tuple[Pass, Params]:
    """``valid()``, which records nothing, and the parameters."""
    import burnpy as bp
    from benches.python.models import model_and_loss

    bp.set_num_threads(threads)
    bp.manual_seed(2)
    x = bp.Tensor.from_numpy(data(name)[0]).inner()
    model = model_and_loss(name)[0].valid()
    return lambda: model(x), [param.val().to_numpy() for _, param in model.named_params()]


def torch_passes(name: str, threads: int, values: Params, *, compiled: bool) -> dict[str, Pass]:
    """As it comes, recording what a gradient needs; without that; and compiled."""
    import torch

    torch.set_num_threads(threads)
    forward, x = torch_forward(name), torch_inputs(name)
    recorded = [torch.from_numpy(value).requires_grad_() for value in values]
    plain = [torch.from_numpy(value) for value in values]

    def quiet(function: Any) -> Pass:
        def run() -> Any:
            with torch.inference_mode():
                return function(plain, x)

        return run

    calls: dict[str, Pass] = {"torch": lambda: forward(recorded, x), "torch inference": quiet(forward)}
    return calls | ({"torch compiled": quiet(torch.compile(forward))} if compiled else {})


def jax_pass(name: str, values: Params) -> Pass:
    """One compiled function."""
    import jax
    import jax.numpy as jnp

    x, p = jnp.asarray(data(name)[0]), [jnp.asarray(value) for value in values]
    forward = jax.jit(jax_forward(name))
    return lambda: forward(p, x).block_until_ready()
