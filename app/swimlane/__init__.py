"""The swimlane's side of the server: cached views of captures and the answers to the page's questions."""
