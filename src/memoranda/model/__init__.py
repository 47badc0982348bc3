"""The values of Memoranda: records, their owners and readers, changes, the ledger, and requests to
models.
"""

#: The tenant where none is named. It stands here because `open` has it as a default, and loads no
#: model before it is called.
DEFAULT_TENANT = "default"
