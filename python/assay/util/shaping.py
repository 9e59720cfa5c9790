"""Shapes, and arrays that take other ones."""

from assay.logger import G_LOGGER


def volume(obj):
    """The product of dims."""
    product = 1
    for dim in obj:
        product *= dim
    return product


def is_dimension_dynamic(dim):
    """Whether a dim is no number that is known."""
    return not isinstance(dim, int) and not hasattr(dim, "__index__") or int(dim) < 0


def num_dynamic_dimensions(shape):
    """How many dims of the shape are."""
    return sum(map(is_dimension_dynamic, shape))


def is_empty_shape(shape):
    """Whether it has no elements."""
    return volume(shape) == 0


def is_shape_dynamic(shape):
    """Whether a dim of the shape is."""
    return any(is_dimension_dynamic(dim) for dim in shape)


def is_valid_shape_override(new_shape, original_shape):
    """Whether a shape has the rank and the known dims of another."""
    if original_shape is None:
        return True
    if len(new_shape) != len(original_shape):
        return False
    return all(is_dimension_dynamic(old) or new == old for new, old in zip(new_shape, original_shape))


def override_dynamic_shape(shape, default_shape_value=1):
    """The shape with dims that are not known replaced."""
    return [default_shape_value if is_dimension_dynamic(dim) else dim for dim in shape]


def _frozen(dims, shape):
    """The shape with dims that are not known taken from those of an array."""
    if num_dynamic_dimensions(shape) == 1:
        rest = volume(dim for dim in shape if not is_dimension_dynamic(dim))
        return [(volume(dims) // rest if rest else 0) if is_dimension_dynamic(dim) else dim for dim in shape]
    if len(dims) == len(shape):
        return [have if is_dimension_dynamic(dim) else dim for have, dim in zip(dims, shape)]
    return list(shape)


def _permutation(dims, shape):
    """The axes of an array in the order in which they have the dims of a shape; the first of equal ones goes first."""
    free = list(range(len(dims)))
    order = []
    for dim in shape:
        order.append(next(axis for axis in free if dims[axis] == dim))
        free.remove(order[-1])
    return order


def _reshaped(arr, shape):
    from assay.util import array

    before = tuple(array.shape(arr))
    if is_shape_dynamic(shape) or volume(shape) != volume(before):
        G_LOGGER.warning(f"an array of the shape {before} cannot have the shape {tuple(shape)} and stays what it is")
        return arr
    if before != tuple(shape):
        arr = array.reshape(array.make_contiguous(arr), shape)
        G_LOGGER.info(f"Reshaped array from shape: {before} to: {tuple(array.shape(arr))}")
    return arr


def try_match_shape(arr, shape):
    """The array with another shape: its axes in another order where that makes it, else its elements with other dims.

    One dim may be open (None, a name, or negative). Where it cannot be done, a warning tells, and the array stays as it is.
    """
    from assay.util import array

    shape = _frozen(tuple(array.shape(arr)), shape) if is_shape_dynamic(shape) else list(shape)
    if len(shape) != len(array.shape(arr)):
        arr = _reshaped(arr, shape)
    dims = tuple(array.shape(arr))
    if dims != tuple(shape) and not is_shape_dynamic(shape) and sorted(dims) == sorted(shape):
        order = _permutation(dims, shape)
        arr = array.transpose(arr, order)
        G_LOGGER.info(f"Permuted array of shape: {dims} to: {tuple(shape)} using permutation {order}")
    return _reshaped(arr, shape)
