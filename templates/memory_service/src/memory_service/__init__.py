"""A chatbot and the service that forms its long-term memory, as two graphs over one book."""
