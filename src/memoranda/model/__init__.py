"""The words of Memoranda as values: what is kept, for whom, how it changes, and what a change may do."""
