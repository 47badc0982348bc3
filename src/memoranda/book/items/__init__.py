"""Items: values of any JSON type under names in namespaces."""
