"""The same probe on several processes (torchrun, accelerate, srun): FSDP2 shards of one model.

Every rank computes the same batches with its shard of the weights, so the result is the one of a single
process for a model that does not fit there. Rank 0 speaks; all ranks stop at the same unit of work, because
one that leaves alone would leave the others waiting in a collective.
"""

from __future__ import annotations

import os
from typing import Any

from ..errors import CannotRun
from .device import import_torch


def rank() -> int:
    """This process among those a launcher started; 0 where there is one."""
    return int(os.environ.get("RANK") or os.environ.get("SLURM_PROCID") or 0)


def world_size() -> int:
    """How many processes a launcher started together."""
    return int(os.environ.get("WORLD_SIZE") or 1)


def start_group(device: Any) -> None:
    """Joins the group of processes; only where a launcher started more than one."""
    torch = import_torch()
    if world_size() < 2 or torch.distributed.is_initialized():
        return
    if device.type == "cuda":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    torch.distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")


def leave_group() -> None:
    """Leaves the group, so that the processes end without a warning."""
    if world_size() < 2:
        return
    torch = import_torch()
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def shard(model: Any, device: Any) -> Any:
    """The model with its decoder layers and root sharded over the ranks (FSDP2 `fully_shard`)."""
    if world_size() < 2:
        return model
    torch = import_torch()
    try:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard
    except ImportError as error:
        raise CannotRun(f"torch {torch.__version__} has no FSDP2 ({error}): run one process") from None
    mesh = init_device_mesh(device.type, (world_size(),))
    for module in model.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) > 1:
            for layer in module:
                fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh, reshard_after_forward=True)
    return model


def agreed(wanted: bool) -> bool:
    """True on every rank if any rank wants it."""
    if world_size() < 2:
        return wanted
    torch = import_torch()
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return wanted
    where = "cuda" if torch.distributed.get_backend() == "nccl" else "cpu"
    flag = torch.tensor(int(wanted), device=where)
    torch.distributed.all_reduce(flag, op=torch.distributed.ReduceOp.MAX)
    return bool(flag.item())


def local(tensor: Any) -> Any:
    """This rank's shard of a tensor, or the tensor itself."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def reduced(kinds: dict[str, dict[str, Any]], largest: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
    """Counts per kind summed over the ranks; those named in `largest` by their maximum."""
    if world_size() < 2:
        return kinds
    torch = import_torch()
    where = "cuda" if torch.distributed.get_backend() == "nccl" else "cpu"
    keys = [(kind, key) for kind, entry in kinds.items() for key in entry]
    for operation, chosen in (
        (torch.distributed.ReduceOp.SUM, [pair for pair in keys if pair[1] not in largest]),
        (torch.distributed.ReduceOp.MAX, [pair for pair in keys if pair[1] in largest]),
    ):
        if chosen:
            values = torch.tensor([float(kinds[kind][key]) for kind, key in chosen], dtype=torch.float64)
            values = values.to(where)
            torch.distributed.all_reduce(values, op=operation)
            for (kind, key), value in zip(chosen, values.tolist(), strict=True):
                kinds[kind][key] = value
    return kinds
