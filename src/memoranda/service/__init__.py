"""The service: one book over HTTP, for the client, for other products' clients and for MCP."""
