"""The registry of plugins: operators of ONNX and of users' own functions."""


class IPluginRegistry:
    """Creators by name, version and name space."""

    def __init__(self):
        self._creators = {}
        self.error_recorder = None

    @property
    def plugin_creator_list(self):
        return list(self._creators.values())

    all_creators = plugin_creator_list

    @staticmethod
    def _key(creator):
        return creator.name, str(creator.plugin_version), getattr(creator, "plugin_namespace", "")

    def register_creator(self, creator, plugin_namespace=""):
        """Whether there was none of that name."""
        key = (*self._key(creator)[:2], plugin_namespace or self._key(creator)[2])
        if key in self._creators:
            return False
        self._creators[key] = creator
        return True

    def deregister_creator(self, creator):
        keys = [key for key, value in self._creators.items() if value is creator]
        for key in keys:
            del self._creators[key]
        return bool(keys)

    def get_plugin_creator(self, type, version, plugin_namespace=""):
        return self._creators.get((type, str(version), plugin_namespace))

    get_creator = get_plugin_creator


_REGISTRY = IPluginRegistry()


def get_plugin_registry():
    """The registry of the process."""
    return _REGISTRY


def init_libnvinfer_plugins(logger, namespace):
    """True: what there is of plugins is there already."""
    return True
