"""Chat templates: rows become text, text becomes tokens, and each token either carries loss or does not.

`prepare` is the one path: the preview, the counts and the tensors that train all come from it.
"""
