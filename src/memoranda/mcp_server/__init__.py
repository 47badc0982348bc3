"""The memory as a server of the Model Context Protocol, over standard input and over HTTP."""
