"""Assembly: builds a book from its settings; only this package knows engines, embedders and models
together.
"""

from typing import TYPE_CHECKING

from memoranda.package_names import names_of

if TYPE_CHECKING:
    from memoranda.assembly.book_setup import RecallSettings
    from memoranda.assembly.copy_setup import cancel_copy, copy
    from memoranda.assembly.engine_addresses import (
        MEMORY,
        open_engine,
        read_address,
    )
    from memoranda.assembly.job_handlers import upkeep
    from memoranda.assembly.open_function import DEFAULT_FILE, Opening, load_all, open
    from memoranda.assembly.service_setup import service_settings
else:
    __getattr__, __dir__ = names_of(
        __name__,
        {
            "memoranda.assembly.book_setup": "RecallSettings",
            "memoranda.assembly.copy_setup": "cancel_copy copy",
            "memoranda.assembly.engine_addresses": "MEMORY open_engine read_address",
            "memoranda.assembly.job_handlers": "upkeep",
            "memoranda.assembly.open_function": "DEFAULT_FILE Opening load_all open",
            "memoranda.assembly.service_setup": "service_settings",
        },
    )

__all__ = [
    "DEFAULT_FILE",
    "MEMORY",
    "Opening",
    "RecallSettings",
    "cancel_copy",
    "copy",
    "load_all",
    "open",
    "open_engine",
    "read_address",
    "service_settings",
    "upkeep",
]
