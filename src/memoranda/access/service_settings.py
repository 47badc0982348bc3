"""Settings of the service: its limits, who may reach it, tokens of an identity provider, and the
audit of reads.
"""

from __future__ import annotations

from ipaddress import ip_network
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from memoranda.model.values import Value

#: Only these: with a symmetric algorithm, whoever can check a token could make one.
ASYMMETRIC = frozenset("RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA".split())


def _is_asymmetric(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in ASYMMETRIC:
            raise ValueError(
                f"names {name!r}, which is not asymmetric; choose among {', '.join(sorted(ASYMMETRIC))}"
            )
    return names


def _is_no_wildcard(origins: tuple[str, ...]) -> tuple[str, ...]:
    for origin in origins:
        if "://" not in origin or "*" in origin or origin.endswith("/"):
            raise ValueError(
                f"names {origin!r}; write each origin whole, such as https://app.example.com"
            )
    return origins


def _are_networks(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        try:
            ip_network(name)
        except ValueError:
            raise ValueError(
                f"names {name!r}; give an address, or a network such as 10.0.0.0/8"
            ) from None
    return names


class ServiceSettings(Value):
    """Settings of the service."""

    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description="Hosts by which the service may be asked, without a port, besides this machine's own names and the host it listens on.",
    )
    cors_origins: Annotated[tuple[str, ...], AfterValidator(_is_no_wildcard)] = Field(
        default=(),
        description="Origins of web pages that may ask it from a browser, such as https://app.example.com.",
    )

    header_seconds: float = Field(
        default=10.0,
        gt=0,
        le=3600,
        description="Longest time to send a request's header, from its first byte; for the first request, from the connection on.",
    )
    connections: int = Field(
        default=0,
        ge=0,
        description="Most open connections; 0, and at most: the soft limit of file descriptors less 256, or half of it if that is more.",
    )
    connections_per_address: int = Field(
        default=0,
        ge=0,
        description="Most open connections of one address; 0 is no limit. Loopback and the proxies have none.",
    )
    proxies: Annotated[tuple[str, ...], AfterValidator(_are_networks)] = Field(
        default=(),
        description="Addresses or networks, such as 10.0.0.0/8, of the proxies before the service.",
    )

    body_bytes: int = Field(
        default=16_777_216, ge=1024, description="Most bytes of a request's body."
    )
    body_seconds: float = Field(
        default=30.0, gt=0, le=3600, description="Longest time to send a request's body."
    )
    request_seconds: float = Field(
        default=60.0,
        gt=0,
        le=3600,
        description="Longest time of a request; exports, MCP and what reads the whole book have no limit.",
    )
    requests_per_minute: int = Field(
        default=60_000,
        ge=0,
        description="Most requests of one credential in a minute; 0 is no limit.",
    )
    max_concurrent: int = Field(
        default=256,
        ge=1,
        le=100_000,
        description="Most requests in progress at once; more are refused with a time to come back.",
    )

    compatible: tuple[Literal["eddi", "gdpr", "langgraph", "knowledge"], ...] = Field(
        default=("eddi", "gdpr", "langgraph"),
        description="Other products whose routes are served; knowledge, the routes over users, agents and tasks, is off unless it is named.",
    )
    store_owner_label: int = Field(
        default=0,
        ge=0,
        le=50,
        description="On LangGraph's routes: the label of a namespace that names the user, for a credential that opens several users.",
    )

    audit: bool = Field(
        default=True, description="True notes who read what kind of data about whom."
    )
    audit_days: int = Field(
        default=365,
        ge=0,
        le=36_500,
        description="Days after which a line of the audit is deleted; 0 keeps all.",
    )

    token_issuer: str = Field(
        default="",
        description="The issuer of tokens (the claim iss), word for word; without it, tokens are refused.",
    )
    token_audience: str = Field(
        default="", description="The audience that tokens must name (the claim aud)."
    )
    token_jwks: str = Field(
        default="",
        description="The issuer's public keys (a JWKS): an https address, or the path of a file.",
    )
    token_algorithms: Annotated[tuple[str, ...], AfterValidator(_is_asymmetric)] = Field(
        default=("RS256", "ES256", "EdDSA"),
        description="Algorithms that tokens may be signed with; only asymmetric ones can be named.",
    )
    token_skew_seconds: float = Field(
        default=30.0,
        ge=0,
        le=600,
        description="How far the clocks of the issuer and of this machine may differ.",
    )
    token_person_claim: str = Field(default="sub", description="The claim that names who asks.")
    token_role_claim: str = Field(default="role", description="The claim with the role.")
    token_owners_claim: str = Field(
        default="owners", description="The claim with the users that a token opens."
    )
    token_agents_claim: str = Field(
        default="agents", description="The claim with the agents that a token may name."
    )
    token_groups_claim: str = Field(
        default="groups", description="The claim with the groups that a token may name."
    )
    token_tenant_claim: str = Field(default="tenant", description="The claim with the tenant.")
    token_role: Literal["viewer", "editor", "admin"] = Field(
        default="viewer", description="The role of a token that names none."
    )

    @property
    def takes_tokens(self) -> bool:
        """True if tokens of an issuer open the service, besides keys."""
        return bool(self.token_issuer)

    @model_validator(mode="after")
    def _whole(self) -> ServiceSettings:
        given = {
            name: getattr(self, name)
            for name in ("token_issuer", "token_audience", "token_jwks")
            if getattr(self, name)
        }
        missing = {"token_issuer", "token_audience", "token_jwks"} - set(given)
        if given and missing:
            raise ValueError(
                f"tokens need {', '.join(sorted(missing))}, too; set all three, or none of them"
            )
        if given and not self.token_algorithms:
            raise ValueError("token_algorithms names none; leave it out, or name at least one")
        jwks = self.token_jwks
        if "://" in jwks and not jwks.startswith("https://") and not _is_loopback(jwks):
            raise ValueError(
                "token_jwks is an address without TLS; use https, or the path of a file"
            )
        return self


def _is_loopback(address: str) -> bool:
    return address.startswith(("http://127.0.0.1:", "http://localhost:", "http://[::1]:"))
