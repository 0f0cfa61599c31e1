"""The dependency graph: reduction, neighbourhoods, layers, layout, scenes and its text view."""
