"""The page: one file a tab, the form built from the schema, curves, theme and words."""
