"""The synchronous threads, worker, profiles, episodes, experience, agents, schemas, keys and admin of a book."""

from __future__ import annotations

from memoranda.book import ThreadHandle
from memoranda.book.admin.across_owners import Admin
from memoranda.book.admin.job_verbs import Jobs
from memoranda.book.items.item_verbs import Items
from memoranda.book.schema_verbs import Schemas
from memoranda.book.service_keys import Keys
from memoranda.book.verbs.documents import Agents, Profiles
from memoranda.book.verbs.episodes import Episodes
from memoranda.book.verbs.experience import Experience
from memoranda.sync.background_loop import Loop, SyncPart, blocking
from memoranda.worker import Worker


class SyncThread(SyncPart):
    """A thread of a synchronous book."""

    def __init__(self, handle: ThreadHandle, loop: Loop) -> None:
        super().__init__(handle, loop)
        self.handle = handle
        self.owner = handle.owner
        self.id = handle.id

    append = blocking(ThreadHandle.append)
    feedback = blocking(ThreadHandle.feedback)
    remember = blocking(ThreadHandle.remember)
    get = blocking(ThreadHandle.get)
    operation = blocking(ThreadHandle.operation)
    messages = blocking(ThreadHandle.messages)
    newest = blocking(ThreadHandle.newest)
    window = blocking(ThreadHandle.window)
    summarise = blocking(ThreadHandle.summarise)
    set = blocking(ThreadHandle.set)
    close = blocking(ThreadHandle.close)
    form = blocking(ThreadHandle.form)
    form_again = blocking(ThreadHandle.form_again)
    schedule = blocking(ThreadHandle.schedule)
    scheduled = blocking(ThreadHandle.scheduled)
    unschedule = blocking(ThreadHandle.unschedule)
    formed = blocking(ThreadHandle.formed)


class SyncWorker(SyncPart):
    """The worker of a synchronous book; ``start_worker`` lets it run beside the program."""

    run_once = blocking(Worker.run_once)
    drain = blocking(Worker.drain)


class SyncProfiles(SyncPart):
    """The profiles of a synchronous book."""

    get = blocking(Profiles.get)
    documents = blocking(Profiles.documents)
    report = blocking(Profiles.report)
    put = blocking(Profiles.put)
    patch = blocking(Profiles.patch)


class SyncEpisodes(SyncPart):
    """The episodes of a synchronous book."""

    __call__ = blocking(Episodes.__call__)
    overflow = blocking(Episodes.overflow)
    record = blocking(Episodes.record)
    list = blocking(Episodes.list)


class SyncItems(SyncPart):
    """The items of a synchronous book."""

    put = blocking(Items.put)
    write = blocking(Items.write)
    get = blocking(Items.get)
    get_many = blocking(Items.get_many)
    delete = blocking(Items.delete)
    list = blocking(Items.list)
    search = blocking(Items.search)
    count = blocking(Items.count)
    namespaces = blocking(Items.namespaces)


class SyncExperience(SyncPart):
    """The experience of agents (lines they learnt) in a synchronous book."""

    add = blocking(Experience.add)
    add_evidence = blocking(Experience.add_evidence)
    check_privacy = blocking(Experience.check_privacy)
    approve = blocking(Experience.approve)
    list = blocking(Experience.list)
    retire = blocking(Experience.retire)


class SyncAgents(SyncPart):
    """The agents of a synchronous book."""

    put = blocking(Agents.put)
    get = blocking(Agents.get)
    list = blocking(Agents.list)
    limits = blocking(Agents.limits)


class SyncSchemas(SyncPart):
    """The schemas of a synchronous book."""

    put = blocking(Schemas.put)
    records = blocking(Schemas.records)
    get = blocking(Schemas.get)
    list = blocking(Schemas.list)


class SyncAdmin(SyncPart):
    """The operator's verbs of a synchronous book."""

    list = blocking(Admin.list)
    reads = blocking(Admin.reads)


class SyncJobs(SyncPart):
    """The background jobs of a synchronous book."""

    list = blocking(Jobs.list)
    retry = blocking(Jobs.retry)
    drop = blocking(Jobs.drop)


class SyncKeys(SyncPart):
    """The keys of a synchronous book."""

    put = blocking(Keys.put)
    get = blocking(Keys.get)
    list = blocking(Keys.list)
    issue = blocking(Keys.issue)
    revoke = blocking(Keys.revoke)
    create = blocking(Keys.create)
    rotate = blocking(Keys.rotate)
    uses = blocking(Keys.uses)
