"""Loaders: objects that do their work when they are called."""

from assay import util
from assay.func import constantmethod


class BaseLoader:
    """Keeps arguments, which it does not change; calling it does the work of `call_impl`."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("assay.") and "call_impl" in vars(cls):
            cls.call_impl = util.check_called_by("__call__")(cls.call_impl)

    @constantmethod
    def __call__(self, *args, **kwargs):
        return self.call_impl(*args, **kwargs)

    def call_impl(self, *args, **kwargs):
        """The work."""
        raise NotImplementedError

    def __repr__(self):
        shown = {name.lstrip("_"): value for name, value in vars(self).items()}
        return util.make_repr(type(self).__name__, **shown)[0]


def given(thing):
    """The thing, or what it gives where it is a loader or a function."""
    return util.invoke_if_callable(thing)[0]
