"""Objects that go between processes."""

from assay.logger import G_LOGGER

_HINT = "run without a process of its own: use_subprocess=False"


def send_on_queue(queue, obj) -> None:
    """Puts the object into the queue."""
    queue.put(obj)


def try_send_on_queue(queue, obj) -> None:
    """The same; None where it cannot be sent."""
    try:
        send_on_queue(queue, obj)
    except Exception as error:
        G_LOGGER.warning(f"a {type(obj).__name__} cannot be sent to another process: {error}; {_HINT}")
        queue.put(None)


def receive_on_queue(queue, timeout=None):
    """What the queue has next."""
    return queue.get(block=True, timeout=timeout)


def try_receive_on_queue(queue, timeout=None):
    """The same; None where nothing came in time."""
    try:
        received = receive_on_queue(queue, timeout)
    except Exception as error:
        G_LOGGER.warning(f"nothing came from another process: {type(error).__name__} {error}; {_HINT}")
        return None
    if received is None:
        G_LOGGER.warning(f"another process sent nothing; {_HINT}")
    return received
