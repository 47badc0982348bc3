"""See ``memoranda.language.times.time_reader``."""

from memoranda.language.times.time_reader import days_said as days_said
