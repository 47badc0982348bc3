"""The conformance suite that every engine passes: subclass ``StoreSuite`` and give it an engine."""

from __future__ import annotations

from memoranda_conformance.suites.archive import ArchiveSuite
from memoranda_conformance.suites.background.expiry import ExpirySuite
from memoranda_conformance.suites.background.formation import FormationSuite, SpendingSuite
from memoranda_conformance.suites.background.job_waits import WaitingSuite, WhoFormsSuite
from memoranda_conformance.suites.background.jobs import JobSuite
from memoranda_conformance.suites.background.scheduled_jobs import SchedulingSuite
from memoranda_conformance.suites.background.unformed import UnformedSuite
from memoranda_conformance.suites.confirmations import ConfirmationSuite
from memoranda_conformance.suites.copies import MovingSuite
from memoranda_conformance.suites.erasure import ErasureSuite
from memoranda_conformance.suites.finding.data_filters import DataFilterSuite
from memoranda_conformance.suites.finding.lists import ListSuite
from memoranda_conformance.suites.limits import CapacitySuite, LimitSuite
from memoranda_conformance.suites.maintenance import KeepingSuite
from memoranda_conformance.suites.memories import MemorySuite
from memoranda_conformance.suites.operations import ExtremeSuite, OperationSuite
from memoranda_conformance.suites.others import OtherSuite
from memoranda_conformance.suites.provenance.external_ids import ExternalIdSuite
from memoranda_conformance.suites.provenance.redacted_documents import RedactedDocumentsSuite
from memoranda_conformance.suites.provenance.source_episodes import SourceEpisodeSuite
from memoranda_conformance.suites.provenance.two_facts import TwoFactsSuite
from memoranda_conformance.suites.reads import FilterSuite, ReadingSuite
from memoranda_conformance.suites.redaction import RedactionSuite
from memoranda_conformance.suites.shelves import MarkSuite, NarrowingSuite, ShelfSuite
from memoranda_conformance.suites.sources import AgeingSuite, GroundsSuite
from memoranda_conformance.suites.stores.items import ItemSuite
from memoranda_conformance.suites.stores.person import PersonSuite
from memoranda_conformance.suites.stores.restrictions import RestrictionSuite, ServiceRowSuite
from memoranda_conformance.suites.threads import ThreadSuite
from memoranda_conformance.suites.together import TogetherSuite
from memoranda_conformance.suites.undo import TakenBackSuite, UndoSuite
from memoranda_conformance.suites.vectors import VectorSuite
from memoranda_conformance.suites.visibility import TrustSuite, VisibilitySuite


class StoreSuite(
    ThreadSuite,
    ReadingSuite,
    FilterSuite,
    ListSuite,
    DataFilterSuite,
    OperationSuite,
    MemorySuite,
    TrustSuite,
    LimitSuite,
    CapacitySuite,
    ArchiveSuite,
    UndoSuite,
    TakenBackSuite,
    OtherSuite,
    TogetherSuite,
    GroundsSuite,
    AgeingSuite,
    ConfirmationSuite,
    JobSuite,
    WaitingSuite,
    SchedulingSuite,
    WhoFormsSuite,
    SpendingSuite,
    FormationSuite,
    UnformedSuite,
    ShelfSuite,
    NarrowingSuite,
    VectorSuite,
    ErasureSuite,
    ExpirySuite,
    RedactionSuite,
    RedactedDocumentsSuite,
    TwoFactsSuite,
    VisibilitySuite,
    KeepingSuite,
    MovingSuite,
    MarkSuite,
    ExtremeSuite,
    ExternalIdSuite,
    SourceEpisodeSuite,
    ItemSuite,
    RestrictionSuite,
    ServiceRowSuite,
    PersonSuite,
):
    """All conformance tests of an engine."""
