"""What every timeline needs of the server: requests, window messages, marks, files. Chip swimlanes and traces share it."""
