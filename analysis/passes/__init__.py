"""The passes of a compile: what each changed, where a name came from, and what the compiler said about it."""
