"""Plain Flask routes under ``/api``: one module per room, ``register(server, services)`` each."""
