"""Language models of any provider: each request is sent once, its answer parsed strictly, its cost reported."""

from memoranda.models.model_choice import DEFAULT, NONE, ModelsSettings, find
from memoranda.models.providers import RemoteModels

__all__ = ["DEFAULT", "NONE", "ModelsSettings", "RemoteModels", "find"]
