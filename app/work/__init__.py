"""Server callbacks: one module per page, ``register(app, services)`` each; bodies are glue."""
