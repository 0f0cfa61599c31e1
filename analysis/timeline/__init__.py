"""Level-of-detail timeline: what is drawn for a window, and the answers around it."""
