"""All routes of this room, as the service mounts them."""

from __future__ import annotations

from fastapi import APIRouter

from memoranda.access.service_settings import ServiceSettings
from memoranda.book.all_operations import OPERATIONS
from memoranda.compatible.eddi_routes import memory_routes, property_routes, schedule_routes
from memoranda.compatible.gdpr_routes import gdpr_routes, restriction_routes
from memoranda.compatible.knowledge_routes import knowledge_routes
from memoranda.compatible.langgraph_routes import store_routes


def compatible_routes(settings: ServiceSettings) -> tuple[APIRouter, ...]:
    """Return the routes of the other products that the settings name."""
    routes = {
        "eddi": (memory_routes, property_routes, schedule_routes),
        "gdpr": (gdpr_routes, *([restriction_routes] if "admin.restrict" in OPERATIONS else ())),
        "langgraph": (store_routes(settings.store_owner_label),),
        "knowledge": (knowledge_routes,),
    }
    return tuple(one for name in dict.fromkeys(settings.compatible) for one in routes[name])
