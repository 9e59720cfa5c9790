"""A runner that refuses."""

from assay.backend.base import BaseRunner
from assay.backend.tf.loader import refuse


class TfRunner(BaseRunner):
    """Refused when it is activated."""

    def __init__(self, sess, timeline_dir=None, name=None) -> None:
        super().__init__(name=name, prefix="tf-runner")
        self._sess = sess

    def activate_impl(self):
        refuse()
