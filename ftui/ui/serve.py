"""Serve the page: who may reach it, and what is checked before it listens."""

from __future__ import annotations

import os
import socket

from ftui import workspace
from ftui.errors import AccessError, FtuiError

MAX_UPLOAD = os.environ.get("FTUI_MAX_UPLOAD", "2gb")


def logins(text: str) -> list[tuple[str, str]]:
    """`user:password` pairs, by comma. Raises AccessError where one has no password."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        user, colon, password = part.partition(":")
        if not (user and colon and password):
            raise AccessError(
                "bad_login",
                "FTUI_AUTH cannot be read",
                "Each login must be user:password; several are separated by commas.",
                "Set FTUI_AUTH=anna:a-long-password",
            )
        found.append((user, password))
    return found


def check_access(host: str, users: list[tuple[str, str]], allow_anonymous: bool) -> None:
    """Raise AccessError, code no_login, where the page would be open to others without one."""
    if _is_local(host) or users or allow_anonymous:
        return
    raise AccessError(
        "no_login",
        "A login is needed here",
        f"On {host} everyone who reaches this machine could train on it and read its data.",
        "Set FTUI_AUTH=user:password, or add --allow-anonymous if that is what you want.",
    )


def _is_local(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def check_port(host: str, port: int) -> None:
    """Raise FtuiError, code port_in_use, before anything is built."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            raise FtuiError(
                "port_in_use",
                "The port is in use",
                f"{host}:{port} cannot be listened on ({error.strerror}); perhaps ftui already runs there.",
                f"Open http://{host}:{port}, or choose another port: python app.py --port {port + 1}",
            ) from None


def run(host: str, port: int, allow_anonymous: bool, root_path: str = "") -> None:
    """Build the page and listen until interrupted."""
    users = logins(os.environ.get("FTUI_AUTH", ""))
    check_access(host, users, allow_anonymous)
    check_port(host, port)
    workspace.home().mkdir(parents=True, exist_ok=True)
    # Gradio asks itself whether it is there; behind a proxy that question must not leave the machine.
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1,localhost,::1"]))
    if not users and not _is_local(host):
        os.environ["FTUI_PUBLIC"] = "1"
    from ftui.ui import page, say, theme

    page.build().launch(
        server_name=host,
        server_port=port,
        auth=users or None,
        root_path=root_path or None,
        i18n=say.translations(),
        theme=theme.theme(),
        css=theme.CSS,
        head=theme.HEAD,
        footer_links=[],
        max_file_size=MAX_UPLOAD,
        ssr_mode=False,
        share=False,
        show_error=False,
        quiet=False,
    )
