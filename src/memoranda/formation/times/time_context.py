"""See ``memoranda.language.times.time_context``."""

from memoranda.language.times.time_context import Role as Role
