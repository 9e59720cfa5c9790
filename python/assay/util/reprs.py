"""Constructors as texts."""


def is_nan(obj):
    """Whether it is a float that is no number."""
    return isinstance(obj, float) and obj != obj


def is_inf(obj):
    """Whether it is an infinite float."""
    return isinstance(obj, float) and abs(obj) == float("inf")


class _Inline(str):
    def __repr__(self):
        return str(self)


def handle_special_repr(obj):
    """The object, or one whose repr() can be evaluated: floats that are no numbers or infinite, also in collections."""
    if is_nan(obj) or is_inf(obj):
        return _Inline(f"float('{obj}')")
    if type(obj) is dict:
        return {handle_special_repr(key): handle_special_repr(value) for key, value in obj.items()}
    if type(obj) in (list, tuple, set):
        return type(obj)(handle_special_repr(each) for each in obj)
    return obj


def apply_repr(obj):
    """A text that makes the object when it is evaluated."""
    return repr(handle_special_repr(obj))


def make_repr(type_str, *args, **kwargs):
    """(the call of a constructor, whether all args are None, whether all others are None, which are left out)."""
    parts = [apply_repr(arg) for arg in args]
    parts += [f"{key}={apply_repr(value)}" for key, value in kwargs.items() if value is not None]
    return (f"{type_str}({', '.join(parts)})", all(arg is None for arg in args),
            all(value is None for value in kwargs.values()))
