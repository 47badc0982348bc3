"""The conformance suite that every engine passes: subclass ``StoreSuite`` and give it an engine."""

from __future__ import annotations

from commonplace.testing.suite_ageing import AgeingSuite
from commonplace.testing.suite_erasure import ErasureSuite
from commonplace.testing.suite_extremes import ExtremeSuite
from commonplace.testing.suite_filters import FilterSuite
from commonplace.testing.suite_formation import FormationSuite
from commonplace.testing.suite_grounds import GroundsSuite
from commonplace.testing.suite_jobs import JobSuite
from commonplace.testing.suite_keeping import KeepingSuite
from commonplace.testing.suite_limits import LimitSuite
from commonplace.testing.suite_marks import MarkSuite
from commonplace.testing.suite_memories import MemorySuite
from commonplace.testing.suite_moving import MovingSuite
from commonplace.testing.suite_operations import OperationSuite
from commonplace.testing.suite_others import OtherSuite
from commonplace.testing.suite_reading import ReadingSuite
from commonplace.testing.suite_shelves import ShelfSuite
from commonplace.testing.suite_spending import SpendingSuite
from commonplace.testing.suite_taken_back import TakenBackSuite
from commonplace.testing.suite_threads import ThreadSuite
from commonplace.testing.suite_undo import UndoSuite
from commonplace.testing.suite_vectors import VectorSuite
from commonplace.testing.suite_visibility import VisibilitySuite
from commonplace.testing.suite_waiting import WaitingSuite


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
