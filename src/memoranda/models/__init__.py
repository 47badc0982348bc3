"""Language models of any provider: sends each request once, parses its answer strictly and reports its cost."""

from memoranda.models.model_choice import DEFAULT, NONE, ModelsSettings, find
from memoranda.models.providers import RemoteModels

__all__ = ["DEFAULT", "NONE", "ModelsSettings", "RemoteModels", "find"]
