"""The conformance suite that every engine passes: subclass ``StoreSuite`` and give it an engine."""

from __future__ import annotations

from memoranda.testing.conformance.background.expiry import ExpirySuite
from memoranda.testing.conformance.background.formation import FormationSuite, SpendingSuite
from memoranda.testing.conformance.background.job_waits import WaitingSuite, WhoFormsSuite
from memoranda.testing.conformance.background.jobs import JobSuite
from memoranda.testing.conformance.background.scheduled_jobs import SchedulingSuite
from memoranda.testing.conformance.background.unformed import UnformedSuite
from memoranda.testing.conformance.confirmations import ConfirmationSuite
from memoranda.testing.conformance.copies import MovingSuite
from memoranda.testing.conformance.erasure import ErasureSuite
from memoranda.testing.conformance.finding.data_filters import DataFilterSuite
from memoranda.testing.conformance.finding.lists import ListSuite
from memoranda.testing.conformance.limits import CapacitySuite, LimitSuite
from memoranda.testing.conformance.maintenance import KeepingSuite
from memoranda.testing.conformance.memories import MemorySuite
from memoranda.testing.conformance.operations import ExtremeSuite, OperationSuite
from memoranda.testing.conformance.others import OtherSuite
from memoranda.testing.conformance.provenance.external_ids import ExternalIdSuite
from memoranda.testing.conformance.provenance.redacted_documents import RedactedDocumentsSuite
from memoranda.testing.conformance.provenance.source_episodes import SourceEpisodeSuite
from memoranda.testing.conformance.provenance.two_facts import TwoFactsSuite
from memoranda.testing.conformance.reads import FilterSuite, ReadingSuite
from memoranda.testing.conformance.redaction import RedactionSuite
from memoranda.testing.conformance.shelves import MarkSuite, NarrowingSuite, ShelfSuite
from memoranda.testing.conformance.sources import AgeingSuite, GroundsSuite
from memoranda.testing.conformance.stores.items import ItemSuite
from memoranda.testing.conformance.stores.person import PersonSuite
from memoranda.testing.conformance.stores.restrictions import RestrictionSuite, ServiceRowSuite
from memoranda.testing.conformance.threads import ThreadSuite
from memoranda.testing.conformance.undo import TakenBackSuite, UndoSuite
from memoranda.testing.conformance.vectors import VectorSuite
from memoranda.testing.conformance.visibility import TrustSuite, VisibilitySuite


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
    UndoSuite,
    TakenBackSuite,
    OtherSuite,
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
