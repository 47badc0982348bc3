"""The suites of the book's own façade, over a service on this machine: the same tests, the same
answers.
"""

from __future__ import annotations

import importlib
import inspect

import pytest

pytestmark = pytest.mark.again

SUITES = """
book.test_about book.test_agents book.test_audiences book.test_bad_input book.test_bound_fields book.test_chat_messages book.test_contexts
book.test_data_filters book.test_episodes book.test_errors_of_use book.test_experience book.test_external_ids
book.test_grounds book.test_happened book.test_items book.test_only book.test_profile_edits book.test_redactions
book.test_retracting book.test_scenarios book.test_sharing book.test_six_ways book.test_source_episodes book.test_threads
book.test_trust book.test_update book.test_windows
integrations.test_closing integrations.test_echoes integrations.test_forgetting_scene integrations.test_memory_files
integrations.test_plain_tools integrations.test_recalling integrations.test_recording integrations.test_seven_steps
integrations.test_sharing integrations.test_tools
""".split()

#: Suites and tests that need what cannot cross a network, by the reason.
LEFT_OUT = {
    "they look into the engine of the book, or into its services": """
        test_an_item_with_a_time_is_gone_when_it_is_over_and_a_reading_renews_it
        test_being_placed_in_a_context_is_use_and_looking_is_not test_what_is_left_out_for_want_of_room_is_not_used
        test_strength_fades_by_half_in_thirty_days_and_use_gives_some_back
        test_what_fails_after_the_commit_is_left_to_do_and_the_same_call_does_it
        test_without_a_limit_no_message_leaves_and_no_other_day_is_put test_ids_are_made_here_alone
        test_a_long_silence_ends_the_window_and_nothing_else test_why_tells_what_a_profile_rests_on_now
        test_the_threads_own_summary_stands_for_the_turns_that_are_left_out
        test_a_thread_is_opened_by_its_name_in_one_round_trip
    """,
    "a function that counts tokens cannot cross": """
        test_a_context_tells_the_time_in_the_zone_of_its_reader test_tokens_are_counted_by_the_counter_that_is_given
        test_a_window_begins_with_a_user_and_keeps_calls_with_results
        test_the_token_count_of_a_message_is_stored_and_used_by_the_window
        test_of_too_many_standing_instructions_the_strongest_are_placed
    """,
    "every write over HTTP has an operation id, so its receipt has a position": """
        test_a_write_that_changes_nothing_names_no_position_of_another
        test_retracting_what_was_superseded_prints_that_nothing_changed
    """,
    "a value of another type is refused before the verb's own words, or is read as the query string has it": """
        test_bytes_are_no_text_anywhere test_data_that_is_too_deep_or_too_large_is_refused
        test_what_is_of_another_type_is_refused_by_its_name test_what_is_no_message_is_refused_in_words
        test_an_episode_without_a_goal_and_a_summary_is_refused test_a_malformed_statement_is_refused_by_the_name_of_its_field
        test_malformed_ids_cursors_and_limits_name_themselves test_a_limit_that_is_no_number_is_refused_as_such
        test_a_search_finds_items_of_one_namespace_by_their_text test_turns_are_read_by_their_numbers
        test_a_reason_that_cannot_be_kept_is_refused test_a_malformed_chat_message_is_refused_by_the_name_of_its_field
        test_values_and_names_that_cannot_be_kept_are_refused_with_their_place test_a_malformed_budget_is_refused
        test_a_message_without_a_role_is_told_what_is_missing test_a_statement_without_a_text_is_told_what_is_missing
    """,
}
_LEFT_OUT = {name for names in LEFT_OUT.values() for name in names.split()}

_MODULES = {suite: importlib.import_module(f"tests.{suite}") for suite in SUITES}


def test_what_is_left_out_is_still_there():
    assert {name for module in _MODULES.values() for name in vars(module)} >= _LEFT_OUT


for _suite in SUITES:
    _module = _MODULES[_suite]
    _word = _suite.rpartition("_")[2]
    for _name, _one in vars(_module).items():
        if not _name.startswith("test_"):
            continue
        if "book" in inspect.signature(_one).parameters and _name not in _LEFT_OUT:
            globals()[f"{_name}__{_word}"] = _one
