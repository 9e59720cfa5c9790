"""Dictionaries and lists that refuse what is of another type."""

from collections import OrderedDict
from collections.abc import Callable

from assay.logger import G_LOGGER


def _check(value, kind, what):
    if not isinstance(value, kind):
        names = " or ".join(each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,)))
        G_LOGGER.critical(f"Unsupported {what} type: {type(value).__name__}, expected {names}: {value!r}")
    return value


class _Dictionary:
    _key_type_func: Callable
    _value_type_func: Callable

    def __init__(self, dct=None) -> None:
        self.dct = OrderedDict(dct or {})
        self.key_type = self._key_type_func()
        self.value_type = self._value_type_func()

    def _check_types(self, key, value):
        _check(key, self.key_type, "key")
        _check(value, self.value_type, "value")

    def keys(self):
        return self.dct.keys()

    def values(self):
        return self.dct.values()

    def items(self):
        return self.dct.items()

    def update(self, other) -> None:
        for key, value in other.items():
            self._check_types(key, value)
        self.dct.update(other.items())

    def get(self, key, default=None):
        return self.dct.get(key, default)

    def add(self, key, value) -> None:
        self[key] = value

    def __contains__(self, key):
        return key in self.dct

    def __getitem__(self, key):
        return self.dct[key]

    def __setitem__(self, key, value):
        self._check_types(key, value)
        self.dct[key] = value

    def __delitem__(self, key):
        del self.dct[key]

    def __len__(self):
        return len(self.dct)

    def __iter__(self):
        return iter(self.dct)

    def __eq__(self, other):
        return self.dct == getattr(other, "dct", other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self):
        return str(self.dct)

    def __repr__(self):
        return repr(self.dct)


def TypedDict(key_type_func, value_type_func):
    """A class of dictionaries; the functions give the types of keys and values, or tuples of them."""
    functions = {"_key_type_func": staticmethod(key_type_func), "_value_type_func": staticmethod(value_type_func)}
    return type("Interface", (_Dictionary,), functions)


class _List:
    _elem_type_func: Callable

    def __init__(self, lst=None) -> None:
        self.lst = list(lst or [])
        self.elem_type = self._elem_type_func()

    def _checked(self, value):
        return _check(value, self.elem_type, "element")

    def append(self, elem) -> None:
        self.lst.append(self._checked(elem))

    def extend(self, elems) -> None:
        self.lst.extend([self._checked(each) for each in elems])

    def insert(self, index, elem) -> None:
        self.lst.insert(index, self._checked(elem))

    def __iadd__(self, elems):
        self.extend(elems)
        return self

    def __contains__(self, key):
        return key in self.lst

    def __getitem__(self, index):
        return self.lst[index]

    def __setitem__(self, index, elem):
        self.lst[index] = self._checked(elem)

    def __delitem__(self, index):
        del self.lst[index]

    def __len__(self):
        return len(self.lst)

    def __iter__(self):
        return iter(self.lst)

    def __eq__(self, other):
        return self.lst == getattr(other, "lst", other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self):
        return str(self.lst)

    def __repr__(self):
        return repr(self.lst)


def TypedList(elem_type_func):
    """A class of lists; the function gives the type of elements, or a tuple of types."""
    return type("Interface", (_List,), {"_elem_type_func": staticmethod(elem_type_func)})
