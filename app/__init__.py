"""Swimscope's web application: wires analyses and components to pages, callbacks, URL state and routes."""
