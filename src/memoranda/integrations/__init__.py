"""Integrations of agent frameworks, a module for each framework."""
