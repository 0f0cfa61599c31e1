"""What does the server do, hold and cost? The page of its administrators."""
