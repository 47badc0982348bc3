"""The synchronous threads, worker, profiles, episodes, experience, agents, schemas, keys and admin of a book."""

from __future__ import annotations

from memoranda.book import ThreadHandle
from memoranda.book.admin.across_owners import Admin
from memoranda.book.admin.job_verbs import Jobs
from memoranda.book.items import Items
from memoranda.book.schema_verbs import Schemas
from memoranda.book.service_keys import Keys
from memoranda.book.verbs.documents import Agents, Profiles
from memoranda.book.verbs.episodes import Episodes
from memoranda.book.verbs.experience import Experience
from memoranda.operations import Blocking
from memoranda.sync.background_loop import Loop, SyncPart
from memoranda.worker import Worker


class SyncThread(SyncPart, ThreadHandle[Blocking]):
    """A thread of a synchronous book."""

    def __init__(self, handle: ThreadHandle, loop: Loop) -> None:
        ThreadHandle.__init__(self, handle._services, handle.owner, handle.id, handle._view, handle._agent)
        SyncPart.__init__(self, handle, loop)


class SyncWorker(SyncPart, Worker[Blocking]):
    """The worker of a synchronous book; ``start_worker`` lets it run beside the program."""


class SyncProfiles(SyncPart, Profiles[Blocking]):
    """The profiles of a synchronous book."""


class SyncEpisodes(SyncPart, Episodes[Blocking]):
    """The episodes of a synchronous book."""


class SyncItems(SyncPart, Items[Blocking]):
    """The items of a synchronous book."""


class SyncExperience(SyncPart, Experience[Blocking]):
    """The experience of agents (lines they learnt) in a synchronous book."""


class SyncAgents(SyncPart, Agents[Blocking]):
    """The agents of a synchronous book."""


class SyncSchemas(SyncPart, Schemas[Blocking]):
    """The schemas of a synchronous book."""


class SyncAdmin(SyncPart, Admin[Blocking]):
    """The operator's operations of a synchronous book."""


class SyncJobs(SyncPart, Jobs[Blocking]):
    """The background jobs of a synchronous book."""


class SyncKeys(SyncPart, Keys[Blocking]):
    """The keys of a synchronous book."""
