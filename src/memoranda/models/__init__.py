"""Language models of any provider: sends each request once, parses its answer strictly and reports
its cost.
"""

from typing import TYPE_CHECKING

from memoranda.package_names import names_of

if TYPE_CHECKING:
    from memoranda.models.model_choice import DEFAULT, NONE, ModelsSettings, find
    from memoranda.models.providers import RemoteModels
else:
    __getattr__, __dir__ = names_of(
        __name__,
        {
            "memoranda.models.model_choice": "DEFAULT NONE ModelsSettings find",
            "memoranda.models.providers": "RemoteModels",
        },
    )

__all__ = ["DEFAULT", "NONE", "ModelsSettings", "RemoteModels", "find"]
