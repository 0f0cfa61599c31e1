"""Pure drawing functions: values in, Dash components and figures out. No callbacks, no I/O."""
