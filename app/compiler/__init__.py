"""What the pages of the compiler side share: URL keys, answers that are still being made, names of functions."""
