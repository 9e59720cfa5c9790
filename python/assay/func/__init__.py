"""Functions about functions."""

import functools

from assay import config
from assay.logger import G_LOGGER


def _as_tuple(values):
    return values if isinstance(values, tuple) else (values,)


def extend(extend_func):
    """A decorator: the function gets what `extend_func` returned, after the arguments of the call if it takes them.

    The call gives what the decorated function gives, or what `extend_func` gave where that is None.
    """

    def decorate(func):
        @functools.wraps(func)
        def extended(*args, **kwargs):
            import inspect

            returned = extend_func(*args, **kwargs)
            values = _as_tuple(returned) if returned is not None else ()
            parameters = list(inspect.signature(func).parameters.values())
            takes_any = any(each.kind == each.VAR_POSITIONAL for each in parameters)
            count = sum(each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in parameters)
            given = [*args, *kwargs.values()]
            if takes_any or count == len(values):
                result = func(*values)
            elif count == len(given) + len(values):
                result = func(*given, *values)
            else:
                name = getattr(func, "__name__", "the function")
                G_LOGGER.critical(f"`{name}` takes {count} parameters, but what it extends gives {len(values)} value(s)"
                                  + (f" for {len(given)} argument(s)" if given else ""))
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
            G_LOGGER.internal_error(f"`{func.__name__}` changed its object, which it promises not to")
        return result

    return checked
