"""Every public module, class and function of the package says in a docstring what it is."""

import importlib
import inspect
import pkgutil

import assay
import checks


def modules():
    for found in pkgutil.walk_packages(assay.__path__, "assay."):
        parts = found.name.split(".")
        if not any(each.startswith("_") for each in parts) and not parts[-1].startswith(("host", "lib")):
            yield importlib.import_module(found.name)


def own_names(module):
    """Classes and functions of the package that a module has under public names."""
    for name, value in vars(module).items():
        is_ours = str(getattr(value, "__module__", None)).partition(".")[0] == "assay"
        if not name.startswith("_") and is_ours and (inspect.isclass(value) or inspect.isfunction(value)):
            yield name, value


def test_all_that_is_public_is_documented():
    missing, count = [], 0
    for module in modules():
        rows = [("", module), *own_names(module)]
        count += len(rows)
        missing += [f"{module.__name__}.{name}" for name, value in rows if not (value.__doc__ or "").strip()]
    assert not missing, sorted(set(missing))
    assert count > 600


if __name__ == "__main__":
    checks.run_all(globals())
