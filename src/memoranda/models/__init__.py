"""Questions to language models, whoever provides them: asked once, read strictly, and paid for in the open."""

from memoranda.models.finding import DEFAULT, NONE, ModelsSettings, find
from memoranda.models.remote import RemoteModels

__all__ = ["DEFAULT", "NONE", "ModelsSettings", "RemoteModels", "find"]
