"""Jobs: a folder each, a tiny runner that owns the child, and the words to start, stop and read them.

The folder is the only truth. Page, terminal and a restarted server read the same files (`folder`), the
runner (`runner`) launches what `launch` says, the worker writes through `report`, and `control` acts.
"""
