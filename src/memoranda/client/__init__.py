"""The client: a book that a service has, with the verbs of ``Book`` over HTTP."""

from memoranda.client.remote_book import RemoteBook, RemoteThread, open_remote

__all__ = ["RemoteBook", "RemoteThread", "open_remote"]
