"""Language models of any provider: each request is sent once, its answer parsed strictly, its cost reported."""

from memoranda.models.finding import DEFAULT, NONE, ModelsSettings, find
from memoranda.models.remote import RemoteModels

__all__ = ["DEFAULT", "NONE", "ModelsSettings", "RemoteModels", "find"]
