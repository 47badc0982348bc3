"""A service over a book in memory, asked in this process, without a socket."""

from __future__ import annotations

import io
import logging
from contextlib import asynccontextmanager

import httpx2
import pytest

import memoranda
from memoranda.access.service_settings import ServiceSettings
from memoranda.service.app import make_app
from memoranda.service.composition import log_to


@pytest.fixture
async def book():
    async with memoranda.open("memory://", worker=False, embed=None) as opened:
        yield opened


@asynccontextmanager
async def asking(book, settings=None, **how):
    """Return a client of a service over this book."""
    app = make_app(book, settings or ServiceSettings(), **how)
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


@pytest.fixture
async def http(book):
    async with asking(book) as client:
        yield client


@pytest.fixture
def log():
    """Yield the lines of the service's log."""
    stream = io.StringIO()
    levels = {name: logging.getLogger(name).level for name in ("", "memoranda")}
    handler = log_to(stream)
    yield stream
    logging.getLogger().removeHandler(handler)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
