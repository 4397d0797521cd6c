"""ftui: fine-tune language models from a browser, and prove what came of it.

The arrows between the packages point one way: `ui` and `cli` use `jobs`, `data`, `models`, `checks`,
`chat`, `export` and `evaluate`; these use `settings`, `workspace`, `hardware`, `files` and `errors`.
`training` is only ever started as a child process, so that the page never waits on torch.
"""

__version__ = "0.2.0"
