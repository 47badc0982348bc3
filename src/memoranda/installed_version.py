"""The version of this package, as it is installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("memoranda")
except PackageNotFoundError:  # the source lies on the path, and nothing is installed
    __version__ = "0+unknown"
