"""Who asks, and may they? Sign-in, API tokens, roles, limits of attempts, and the audit log."""
