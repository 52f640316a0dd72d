"""What can be told of a response from its characters alone, without a model and without a tokenizer."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

MARKS = ("Ġ", "Ċ", "▁", "\ufffd", "<0x")
"""Byte-level and sentence-piece marks: text that shows them was never decoded properly."""
SCRIPTS = ("LATIN", "CYRILLIC", "CJK", "HANGUL", "HIRAGANA", "KATAKANA", "ARABIC", "HEBREW", "DEVANAGARI",
           "THAI", "BENGALI", "ARMENIAN", "GEORGIAN", "TAMIL")  # fmt: skip
"""Scripts that count as different; Greek does not, mathematics is full of it."""
JAPANESE = frozenset({"HIRAGANA", "KATAKANA", "CJK"})
MIXED = 3
SHORT = 4000
LONGEST = 20_000

_TAG = re.compile(r"<[^<>]{0,60}>")
_WORDLIKE = re.compile(r"[^\W_]", re.UNICODE)
_LOOP = re.compile(r"(.{1,60}?)\1{5,}\s*$", re.DOTALL)
_BOXED = re.compile(r"\\boxed\{([^{}]*)\}")
_ANSWER_TAG = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_HASHES = re.compile(r"####\s*(.+)")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def is_empty(text: str) -> bool:
    """Nothing but tags, space and punctuation."""
    return _WORDLIKE.search(_TAG.sub(" ", text[:LONGEST])) is None


def is_garbled(text: str) -> bool:
    """Raw token marks, or three writing systems in one short text: noise of a broken or too hot sampler."""
    if any(mark in text for mark in MARKS):
        return True
    return len(text) <= SHORT and len(_scripts(text)) >= MIXED


def ends_in_loop(text: str) -> bool:
    """The last characters are one unit, six times or more."""
    tail = text[-400:]
    found = _LOOP.search(tail)
    return found is not None and len(found.group(0).strip()) >= 24


def final_answer(text: str) -> str:
    """Where answers usually stand: answer tags, the last box, after ####, else the last number or line."""
    for pattern in (_ANSWER_TAG, _BOXED, _HASHES):
        found = pattern.findall(text)
        if found:
            return _plain(found[-1])
    lines = text.strip().splitlines()
    last = lines[-1] if lines else ""
    numbers = _NUMBER.findall(last)
    return _plain(numbers[-1] if numbers else last)


def says_gold(text: str, gold: str) -> bool:
    """Whether the final answer is the gold one, letter for letter after normalising."""
    wanted = _plain(gold)
    return bool(wanted) and final_answer(text) == wanted


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace(",", "").strip().strip(".$").casefold())


def _scripts(text: str) -> set[str]:
    found = {_script(letter) for letter in set(text) if letter.isalpha()} - {""}
    return (found - JAPANESE) | ({"CJK"} if found & JAPANESE else set())


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return next((script for script in SCRIPTS if name.startswith(script)), "")
