"""Talk to a model: a worker process that holds it, and the client that the page and the terminal use."""
