"""The run's log in a pane, with a search; every pane reads from one store of lines."""

from __future__ import annotations

from textual.content import Content

from ..log_store import LogStore
from ..query import Query
from .log_view import LogView
from .text import clean_label


class RunLog(LogView):
    """A log view that fetches what it has not shown yet."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.border_title = "log"
        self._shown = 0
        self._generation = 0
        self._wanted = ""
        self._query = Query()
        self._store: LogStore | None = None
        self.file = ""
        """The name of the file, for `name:line`; empty where the lines are of no file here."""

    def place_text(self) -> str:
        """`train.log:812`, which editors and terminals make a link of."""
        line = self._store.line_at(self.current_line) if self._store is not None and not self._query else None
        return f"{self.file}:{line}" if self.file and line is not None else super().place_text()

    def catch_up(self, store: LogStore) -> None:
        """Append what was read since the last call."""
        self._store = store
        if store.generation != self._generation:
            self._generation, self._shown = store.generation, 0
            self.clear()
        if store.taken > self._shown:
            fresh = store.since(self._shown)
            missed = store.taken - self._shown - len(fresh)
            if missed > 0 and not self._query:
                self.clear(first_line=store.taken - len(fresh) + 1)
            self._shown = store.taken
            self.append([line for line in fresh if self._query.matches(line)] if self._query else fresh)

    def filter(self, query: Query, store: LogStore) -> None:
        """Show only the lines that a filter lets through; an empty one shows all again."""
        self._query = query
        self.border_title = Content(f"log: {clean_label(query.text)}") if query else "log"
        self._shown = 0
        self.clear()
        self.catch_up(store)

    @property
    def filtered(self) -> bool:
        return bool(self._query)

    def goto_file_line(self, store: LogStore, line: int) -> bool:
        """Show a line by its number in the file; False where it is no longer kept."""
        return self.goto_line(store.place_of(line))

    def search(self, text: str, direction: int = 1, *, again: bool = False) -> bool:
        """Go to the next line that holds `text` (case does not matter), around the end if need be."""
        self._wanted = text
        kept = self.lines
        if not text or not len(kept):
            return False
        count, wanted = len(kept), text.casefold()
        start = self.current_line - kept.first + (direction if again else 0)
        for turn in range(count):
            place = kept.first + (start + direction * turn) % count
            if wanted in kept[place].casefold():
                return self.goto_line(place)
        return False

    def search_again(self, direction: int) -> bool:
        return self.search(self._wanted, direction, again=True)
