"""The conformance suite that every engine passes: subclass ``StoreSuite`` and give it an engine."""

from __future__ import annotations

from memoranda.testing.suite_ageing import AgeingSuite
from memoranda.testing.suite_erasure import ErasureSuite
from memoranda.testing.suite_extremes import ExtremeSuite
from memoranda.testing.suite_filters import FilterSuite
from memoranda.testing.suite_formation import FormationSuite
from memoranda.testing.suite_grounds import GroundsSuite
from memoranda.testing.suite_jobs import JobSuite
from memoranda.testing.suite_keeping import KeepingSuite
from memoranda.testing.suite_limits import LimitSuite
from memoranda.testing.suite_marks import MarkSuite
from memoranda.testing.suite_memories import MemorySuite
from memoranda.testing.suite_moving import MovingSuite
from memoranda.testing.suite_operations import OperationSuite
from memoranda.testing.suite_others import OtherSuite
from memoranda.testing.suite_reading import ReadingSuite
from memoranda.testing.suite_shelves import ShelfSuite
from memoranda.testing.suite_spending import SpendingSuite
from memoranda.testing.suite_taken_back import TakenBackSuite
from memoranda.testing.suite_threads import ThreadSuite
from memoranda.testing.suite_undo import UndoSuite
from memoranda.testing.suite_vectors import VectorSuite
from memoranda.testing.suite_visibility import VisibilitySuite
from memoranda.testing.suite_waiting import WaitingSuite


class StoreSuite(
    ThreadSuite,
    ReadingSuite,
    FilterSuite,
    OperationSuite,
    MemorySuite,
    LimitSuite,
    UndoSuite,
    TakenBackSuite,
    OtherSuite,
    GroundsSuite,
    AgeingSuite,
    JobSuite,
    WaitingSuite,
    SpendingSuite,
    FormationSuite,
    ShelfSuite,
    VectorSuite,
    ErasureSuite,
    VisibilitySuite,
    KeepingSuite,
    MovingSuite,
    MarkSuite,
    ExtremeSuite,
):
    """All that an engine has to do, told as tests."""
