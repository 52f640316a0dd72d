"""Which target positions a loss really touches: those whose logits get a gradient."""

from __future__ import annotations

from typing import Any

from ..compute.device import import_torch
from ..compute.forward import forward_logits
from ..errors import CannotRun
from ..subject.model import Loaded
from ..subject.user_code import bound, load_function
from .rows import Row

OFFERED = (
    "logits",
    "input_ids",
    "attention_mask",
    "loss_mask",
    "response_mask",
    "labels",
    "advantages",
    "prompt_length",
)


class Touching:
    """The person's loss, run on one row at a time; the model itself needs no gradient for this."""

    def __init__(self, loaded: Loaded, spec: str) -> None:
        self._loaded = loaded
        self._loss = bound(load_function(spec), OFFERED)

    def touched(self, row: Row) -> list[int]:
        """Positions t of the row whose prediction (logits at t−1) gets a gradient other than 0."""
        torch = import_torch()
        ids = torch.tensor([row.ids], device=self._loaded.device)
        seen = [[int(row.left <= position < row.end) for position in range(len(row.ids))]]
        attention = torch.tensor(seen, device=self._loaded.device)
        with torch.no_grad():
            logits = forward_logits(self._loaded.model, ids, attention, 0).float()
        logits = logits.detach().requires_grad_()
        value = self._loss(self._arguments(row, logits, ids, attention))
        if not isinstance(value, torch.Tensor) or value.numel() != 1:
            raise CannotRun("the loss must return one number as a tensor")
        if value.requires_grad:
            value.backward()
        if logits.grad is None:
            return []
        mass = logits.grad[0].abs().sum(-1)
        return [position + 1 for position in mass.nonzero()[:, 0].tolist()]

    def _arguments(self, row: Row, logits: Any, ids: Any, attention: Any) -> dict[str, Any]:
        import torch

        mask = torch.tensor([row.mask], device=ids.device)
        return {
            "logits": logits,
            "input_ids": ids,
            "attention_mask": attention,
            "loss_mask": mask,
            "response_mask": mask[:, row.begin :],
            "labels": torch.where(mask > 0, ids, torch.full_like(ids, -100)),
            "advantages": torch.ones(1, device=ids.device),
            "prompt_length": row.begin,
        }
