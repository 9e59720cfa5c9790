"""The profile of a context, and the shapes of its tensors."""

from assay.exception import PolygraphyException
from assay.tensorrt.dims import Dims


class Shapes:
    """The part of a context that knows of them."""

    def _start_shapes(self):
        self._profile = 0
        self._shapes = {}
        self._plain = {}  # the same as plain tuples in the order of memory, which compare fast
        self._known = {}  # shapes of outputs by those of inputs

    @property
    def active_optimization_profile(self):
        return self._profile

    @active_optimization_profile.setter
    def active_optimization_profile(self, index):
        if not self._choose_profile(index):
            raise PolygraphyException(f"the engine has no profile {index}")

    def set_optimization_profile(self, index):
        """The same as set_optimization_profile_async()."""
        return self._choose_profile(index)

    def set_optimization_profile_async(self, profile_index, stream_handle=0):
        """Shapes are set anew then. A RuntimeError if there is no profile of that number."""
        if not self._choose_profile(profile_index):
            raise RuntimeError("Error in set optimization profile async.")
        return True

    def _choose_profile(self, index):
        """Whether there is a profile of that number; shapes are set anew then."""
        if not 0 <= index < self.engine.num_optimization_profiles:
            self._tell(f"the engine has {self.engine.num_optimization_profiles} profiles, not one of the number {index}")
            return False
        if index != self._profile:
            self._profile = index
            self._forget()
            self._shapes, self._plain = {}, {}
        return True

    def set_input_shape(self, name, shape):
        """Whether the shape is within the profile."""
        port = self.engine._known(name)
        if not port:
            return False
        if not port[4]:
            return self._tell(f"`{name}` is an output: its shape follows from the inputs")
        shape = Dims(shape)
        low, _, high = self.engine.get_tensor_profile_shape(name, self._profile)
        declared = self.engine.get_tensor_shape(name)
        fits = len(shape) == len(declared) and all(
            a == b if b >= 0 else (lo < 0 or lo <= a <= hi) for a, b, lo, hi in zip(shape, declared, low, high))
        if not fits:
            return self._tell(f"the input `{name}` cannot have the shape {shape}: declared is {declared}, and the profile "
                              f"goes from {low} to {high}")
        if self._shapes.get(name) != shape:
            self._shapes[name] = shape
            self._plain[name] = tuple(self.engine._in_memory(name, shape))
            self._forget()
        return True

    def _input_names(self):
        return [each[0] for each in self.engine._ports if each[4]]

    def _input_shape(self, name):
        return self._shapes.get(name) or self.engine.get_tensor_shape(name)

    @property
    def all_binding_shapes_specified(self):
        """Whether the shapes of all inputs are known."""
        return self._is_shaped()

    def _is_shaped(self):
        return all(min(self._input_shape(name), default=0) >= 0 for name in self._input_names())

    all_shape_inputs_specified = True

    def infer_shapes(self):
        """Names of inputs whose shapes are not set."""
        return [name for name in self._input_names() if min(self._input_shape(name), default=0) < 0]

    def get_tensor_shape(self, name):
        """The shape for the shapes of the inputs; -1 for what is not known before a run. None, which the logger is told, if
        there is no such tensor."""
        port = self.engine._known(name)
        if not port:
            return None
        if port[4]:
            return self._input_shape(name)
        declared = self.engine.get_tensor_shape(name)
        if min(declared, default=0) >= 0 or not self._is_shaped():
            return declared
        return self._outputs().get(name, declared)

    def _outputs(self):
        key = tuple(self._input_shape(name) for name in self._input_names())
        if key not in self._known:
            self._known[key] = self.engine._output_shapes(dict(zip(self._input_names(), key)))
        return self._known[key]

    def get_tensor_strides(self, name):
        strides: list = []
        step = 1
        for dim in reversed(self.engine._in_memory(name, self.get_tensor_shape(name))):
            strides.insert(0, step)
            step *= dim
        return Dims(self.engine._in_network(name, strides))

    def get_max_output_size(self, name):
        from assay.tensorrt import volume

        return int(volume(self.get_tensor_shape(name)) * self.engine.get_tensor_dtype(name).itemsize)

    def set_binding_shape(self, binding, shape):
        return self.set_input_shape(self.engine._name_at(binding), shape)

    def get_binding_shape(self, binding):
        return self.get_tensor_shape(self.engine._name_at(binding))

    get_shape = get_binding_shape

    def get_strides(self, binding):
        return self.get_tensor_strides(self.engine._name_at(binding))

    def set_shape_input(self, binding, shape):
        """Elements of an input that decides shapes; they are read from its address."""
        return True
