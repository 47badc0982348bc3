"""Names, fields, headers and paths that a careless service takes for somebody else's."""

from __future__ import annotations

from proofs._service.population import PERSON, VICTIM

#: Names that a careless comparison takes for the victim's or for everybody's.
LOOK_ALIKES = (
    *(
        "BOB",
        "Bob",
        "bob ",
        " bob",
        "bob.",
        "bob/",
        "./bob",
        "../bob",
        "bob%00",
        "bob\0",
        "%62ob",
        "b%6Fb",
    ),
    *(
        "b\u043eb",
        "bob\u200b",
        "\uff42\uff4f\uff42",
        "bo\u0062\u0301",
        "*",
        "%",
        "_",
        "b_b",
        "b%",
        ".",
        "..",
    ),
    *(
        '{"id": "bob"}',
        '["bob"]',
        "bob,ann",
        "ann,bob",
        "ann/../bob",
        "user:bob",
        "default/bob",
        "\\bob",
        "'or'",
    ),
)
FORGED = (
    {"tenant": "rival"},
    {"principal": "admin"},
    {"role": "admin"},
    {"person": PERSON},
    {"owner": VICTIM},
    {"owners": [VICTIM]},
    {"actor": VICTIM},
    {"__proto__": {"role": "admin"}},
    {"owner_kind": "tenant"},
    {"binding": "local"},
    {"guard": None},
)
FORGED_HEADERS = (
    *(
        ("X-Tenant", "rival"),
        ("X-Owner", VICTIM),
        ("X-Role", "admin"),
        ("X-Forwarded-User", "admin"),
    ),
    *(("X-Original-URL", f"/v1/owners/{VICTIM}/records"), ("X-HTTP-Method-Override", "DELETE")),
    *(
        ("Cookie", "role=admin"),
        ("X-Api-Key", "admin"),
        ("Forwarded", "for=127.0.0.1"),
        ("If-Match", '"1"'),
    ),
)
#: Odd paths, and those of other products; {0} is a name.
PATHS = (
    *(
        "/v1/owners/ann/../{0}/records",
        "/v1/owners/ann%2F..%2F{0}/records",
        "/v1/owners//{0}/records",
    ),
    *(
        "/v1/owners/ann/records/../../{0}/records",
        "/v1//owners/{0}/records",
        "/v1/owners/{0}%00/records",
    ),
    *("/v1/owners/%2562ob/records", "/v1/owners/{0};/records", "//v1/owners/{0}/records"),
    *("/V1/owners/{0}/records", "/v1/owners/{0}/records/", "/v1/owners/ann%00{0}/records"),
    *(
        "/usermemorystore/memories/{0}",
        "/usermemorystore/memories/{0}/visible?x",
        "/propertiesstore/properties/{0}",
    ),
    *("/usermemorystore/memories/{0}/count", "/usermemorystore/memories/{0}/search"),
    *("/usermemorystore/memories/{0}/key/name", "/admin/gdpr/{0}/export"),
    "/admin/gdpr/{0}/restrict",
    "/api/users/{0}",
    *(
        "/admin/gdpr/ann/export",
        "/admin/gdpr/ann",
        "/v1/export",
        "/v1/records",
        "/v1/keys",
        "/v1/owners",
        "/v1/facts",
    ),
    *("/health", "/metrics", "/openapi.json", "/v1"),
)
