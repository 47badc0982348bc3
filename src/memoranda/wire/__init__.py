"""The wire: how verbs, results and errors cross HTTP, for the service and its client."""
