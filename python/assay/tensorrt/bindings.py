"""Tensors of engines by their numbers, as programs for TensorRT 8 have them."""

from assay.exception import PolygraphyException


class Bindings:
    """The numbers of a profile follow those of the one before."""

    @property
    def num_bindings(self):
        """How many tensors all profiles have together."""
        return self._binding_count()

    def _binding_count(self):
        return len(self._names) * self.num_optimization_profiles

    def __len__(self):
        return self._binding_count()

    def __iter__(self):
        return iter(self._names)

    def __getitem__(self, key):
        return self._name_at(key) if isinstance(key, int) else self._index_of(key)

    def _name_at(self, binding):
        if isinstance(binding, str):
            return self._port(binding)[0]
        if not 0 <= binding < self._binding_count():
            raise PolygraphyException(f"the engine has {self._binding_count()} bindings, not one of the number {binding}")
        return self._names[binding % len(self._names)]

    def get_binding_name(self, index):
        return self._name_at(index)

    def get_binding_index(self, name):
        return self._index_of(name)

    def _index_of(self, name):
        return self._names.index(name) if name in self._names else -1

    def get_binding_shape(self, binding):
        return self.get_tensor_shape(self._name_at(binding))

    def get_binding_dtype(self, binding):
        return self.get_tensor_dtype(self._name_at(binding))

    def binding_is_input(self, binding):
        return self._port(self._name_at(binding))[4]

    def is_shape_binding(self, binding):
        return self.is_shape_inference_io(self._name_at(binding))

    def is_execution_binding(self, binding):
        return not self.is_shape_binding(binding)

    def get_binding_format(self, binding):
        return self.get_tensor_format(self._name_at(binding))

    def get_binding_vectorized_dim(self, binding):
        return -1

    def get_binding_format_desc(self, binding):
        return self.get_tensor_format_desc(self._name_at(binding))

    def get_binding_bytes_per_component(self, binding):
        return -1

    def get_binding_components_per_element(self, binding):
        return -1

    def get_location(self, binding):
        return self.get_tensor_location(self._name_at(binding))

    def get_profile_shape(self, profile_index, binding):
        return self.get_tensor_profile_shape(self._name_at(binding), profile_index)

    def get_profile_shape_input(self, profile_index, binding):
        return self.get_tensor_profile_values(profile_index, self._name_at(binding))
