"""The self-contained report of one capture, as HTML or Markdown."""
