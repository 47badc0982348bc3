"""Commands of the service: serve, keys, audit, MCP and restriction."""
