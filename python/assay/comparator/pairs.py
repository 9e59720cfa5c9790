"""What goes by names of runners, or pairs of them."""

from __future__ import annotations

from assay.exception import PolygraphyException
from assay.logger import G_LOGGER


class MissingEntryException(PolygraphyException, KeyError):
    """There is nothing of that key."""

    def __str__(self):
        return str(self.args[0])


class Pairs:
    """A list of (key, value) that also goes by its keys."""

    def __init__(self, lst=None) -> None:
        self.lst = [(key, value) for key, value in (lst or [])]

    def _index(self, key):
        if isinstance(key, int):
            return key
        for i, (name, _) in enumerate(self.lst):
            if name == key:
                return i
        G_LOGGER.critical(f"`{key}` does not exist in this {type(self).__name__}; there is: "
                          f"{', '.join(str(name) for name, _ in self.lst)}", MissingEntryException)

    def __len__(self):
        return len(self.lst)

    def __iter__(self):
        return iter(self.keys())

    def __contains__(self, key):
        return any(name == key for name, _ in self.lst)

    def __getitem__(self, key):
        index = self._index(key)
        return self.lst[index] if isinstance(key, int) else self.lst[index][1]

    def __setitem__(self, key, value):
        if isinstance(key, int):
            self.lst[key] = value
            return
        if key in self:
            self.lst[self._index(key)] = (key, value)
        else:
            self.lst.append((key, value))

    def __delitem__(self, key):
        del self.lst[self._index(key)]

    def keys(self):
        return [name for name, _ in self.lst]

    def values(self):
        return [value for _, value in self.lst]

    def items(self):
        return list(self.lst)

    def get(self, key, fallback=None):
        return self[key] if key in self else fallback

    def update(self, other) -> None:
        for key, value in other.items():
            self[key] = value

    def __repr__(self):
        return f"{type(self).__name__}({self.lst!r})"


def table(head, rows):
    """Rows as HTML."""
    from html import escape

    def row(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{row(head, 'th')}{''.join(row(each, 'td') for each in rows)}</table>"
