"""Functions about functions."""

import functools

from assay import config
from assay.logger import G_LOGGER


def make_iterable(values):
    """A tuple as it is, and anything else as the only element of one."""
    return values if isinstance(values, tuple) else (values,)


def _name(func):
    return getattr(func, "__name__", type(func).__name__)


def extend(extend_func):
    """A decorator: the function gets what `extend_func` returned, after the arguments of the call if it takes them.

    The call gives what the decorated function gives, or what `extend_func` gave where that is None.
    """

    def decorate(func):
        @functools.wraps(func)
        def extended(*args, **kwargs):
            import inspect

            returned = extend_func(*args, **kwargs)
            values = make_iterable(returned)
            parameters = list(inspect.signature(func).parameters.values())
            takes_any = any(each.kind == each.VAR_POSITIONAL for each in parameters)
            if not parameters and values == (None,):
                result = func()
            elif takes_any or len(parameters) == len(values):
                result = func(*values)
            elif len(parameters) == len(args) + len(kwargs) + len(values):
                # By name: they come after what the call gave by name.
                names = [each.name for each in parameters[-len(values):]]
                result = func(*args, **kwargs, **dict(zip(names, values)))
            else:
                G_LOGGER.critical(f"Function: {_name(func)} accepts {len(parameters)} parameter(s), but needs to accept "
                                  f"{len(values)} parameter(s) from: {_name(extend_func)} instead: "
                                  f"{[type(each).__name__ for each in values]}")
            return returned if result is None else result

        return extended

    return decorate


def invoke(*args, **kwargs):
    """A decorator: calls the function at once with these arguments; its name then stands for the result."""
    return lambda func: func(*args, **kwargs)


def constantmethod(func):
    """A decorator: with internal checks, a method that changes attributes of its object is an internal error."""

    @functools.wraps(func)
    def checked(self, *args, **kwargs):
        if not config.INTERNAL_CORRECTNESS_CHECKS:
            return func(self, *args, **kwargs)
        before = dict(vars(self))
        result = func(self, *args, **kwargs)
        if any(vars(self).get(name) is not value for name, value in before.items()) or len(vars(self)) != len(before):
            G_LOGGER.internal_error(f"{self!r} was mutated in a constant method: {func.__name__}()")
        return result

    return checked
