"""Seeded synthetic captures of any size, schema-exact: demo, tests, benchmarks."""
