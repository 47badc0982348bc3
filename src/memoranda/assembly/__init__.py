"""Assembly: builds a book from its settings; only this package knows engines, embedders and models together."""

from typing import TYPE_CHECKING

from memoranda.package_names import names_of

if TYPE_CHECKING:
    from memoranda.assembly.book_setup import Opening, RecallSettings, open
    from memoranda.assembly.copy_setup import cancel_copy, copy
    from memoranda.assembly.engine_addresses import (
        DEFAULT_FILE,
        MEMORY,
        open_engine,
        read_address,
        refuse_former_file,
    )
    from memoranda.assembly.job_handlers import upkeep
    from memoranda.assembly.service_setup import service_settings
else:
    __getattr__, __dir__ = names_of(
        __name__,
        {
            "memoranda.assembly.book_setup": "Opening RecallSettings open",
            "memoranda.assembly.copy_setup": "cancel_copy copy",
            "memoranda.assembly.engine_addresses": "DEFAULT_FILE MEMORY open_engine read_address refuse_former_file",
            "memoranda.assembly.job_handlers": "upkeep",
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
    "open",
    "open_engine",
    "read_address",
    "refuse_former_file",
    "service_settings",
    "upkeep",
]
