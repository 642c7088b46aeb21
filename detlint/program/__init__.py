"""Runs, followed: where they start, what values are in one call, what is seeded and switched on."""
