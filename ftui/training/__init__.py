"""The training child: settings to a trl trainer, with callbacks that write the job's folder.

Only ever started (`accelerate launch … -m ftui.training FOLDER`), never imported by the page.
"""
