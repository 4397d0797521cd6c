"""Models of the Hugging Face hub: only what loading needs, into the hub's own cache, with progress.

Weights come as safetensors alone; pickles are never fetched.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from huggingface_hub import HfApi, constants, snapshot_download, try_to_load_from_cache
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from ftui import files
from ftui.errors import ModelError
from ftui.models.find import hub_cache
from ftui.models.wheel import Report, Unreachable, check_space

_ANSWER_S = 6.0  # for the hub to answer at all; a name server that is cut off takes far longer to give up
_KINDS = (".safetensors", ".json", ".jinja", ".model", ".txt", ".py")


@dataclass(frozen=True)
class _Listing:
    """The files of one commit that are wanted, with their sizes in bytes."""

    commit: str
    sizes: dict[str, int]


def fetch_from_hub(repo: str, revision: str, report: Report) -> Path:
    """The folder of a hub model in the hub's cache.

    Raises ModelError model_not_found, model_gated, no_safetensors or disk_full; Unreachable with the reason.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON"):
        raise Unreachable("the model hub (HF_HUB_OFFLINE forbids asking it)")
    endpoint = (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")
    host = endpoint.partition("//")[2].rpartition("@")[2]
    report(0, None, f"Asking {host} for {repo}")
    try:
        listing = _waited(lambda: _list(repo, revision, endpoint), time.monotonic() + _ANSWER_S)
        return _download(repo, listing, endpoint, report)
    except GatedRepoError:
        raise ModelError(
            "model_gated",
            "This model asks for your consent",
            f"{repo} is only given to people who accepted its licence.",
            f"Accept the licence on {endpoint}/{repo}, then log in with `hf auth login` or set HF_TOKEN.",
        ) from None
    except (RepositoryNotFoundError, RevisionNotFoundError, HFValidationError) as error:
        raise _not_found(repo, revision if isinstance(error, RevisionNotFoundError) else "", host) from None
    except HfHubHTTPError as error:
        raise Unreachable(f"{host} (answered {error.response.status_code})") from None
    except TimeoutError:
        raise Unreachable(f"{host} (did not answer within {_ANSWER_S:.0f} seconds)") from None
    except (httpx.HTTPError, OfflineModeIsEnabled, LocalEntryNotFoundError, ConnectionError) as error:
        text = str(error).lower()
        unknown = any(word in text for word in ("name or service", "resolution", "nodename", "getaddrinfo"))
        raise Unreachable(
            f"{host} ({'its name is unknown here' if unknown else 'the connection failed'})"
        ) from None


def wanted(names: list[str]) -> list[str]:
    """The files of a repository that loading needs: no pickles, no second copy of the weights."""
    top = [
        name
        for name in names
        if name.endswith(_KINDS) and ("/" not in name or name.startswith("additional_chat_templates/"))
    ]
    # consolidated.* is Mistral's and Meta's own format of the same weights, model.fp16.* a variant.
    weights = [name for name in top if name.endswith(".safetensors")]
    own = [name for name in weights if name == "model.safetensors" or name.startswith("model-")]
    return [name for name in top if name not in weights or not own or name in own]


def _list(repo: str, revision: str, endpoint: str) -> _Listing:
    info = HfApi(endpoint=endpoint).model_info(
        repo, revision=revision or None, files_metadata=True, timeout=_ANSWER_S
    )
    sizes = {item.rfilename: item.size or 0 for item in info.siblings or []}
    chosen = wanted(list(sizes))
    if not any(name.endswith(".safetensors") for name in chosen):
        raise ModelError(
            "no_safetensors",
            "No weights that are safe to load",
            f"{repo} offers {len(sizes)} files, but no safetensors; its weights may be pickles, "
            "which can run code.",
            "Choose a repository that has safetensors, or convert the model and give its folder.",
        )
    return _Listing(info.sha or revision or "main", {name: sizes[name] for name in chosen})


def _download(repo: str, listing: _Listing, endpoint: str, report: Report) -> Path:
    cache = hub_cache()
    missing = sum(
        size
        for name, size in listing.sizes.items()
        if not isinstance(try_to_load_from_cache(repo, name, cache_dir=cache, revision=listing.commit), str)
    )
    check_space(cache, missing)
    blobs = cache / f"models--{repo.replace('/', '--')}" / "blobs"
    before = files.folder_size(blobs)

    def told() -> None:
        report(min(missing, files.folder_size(blobs) - before), missing, f"Downloading {repo}")

    folder = _waited(
        lambda: snapshot_download(
            repo,
            # The commit, so that what was listed is what comes.
            revision=listing.commit,
            cache_dir=cache,
            endpoint=endpoint,
            allow_patterns=list(listing.sizes),
        ),
        None,
        told,
    )
    report(missing, missing, f"Downloading {repo}")
    return Path(folder)


def _waited(
    work: Callable[[], Any], deadline: float | None, meanwhile: Callable[[], None] | None = None
) -> Any:
    """The result of `work`, done in a thread so that a call which hangs can be left, and progress be told.

    Raises what `work` raises, and TimeoutError past the deadline (time.monotonic).
    """
    result: list[Any] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.3)
        if meanwhile:
            meanwhile()
        if deadline is not None and thread.is_alive() and time.monotonic() > deadline:
            raise TimeoutError
    if failure:
        raise failure[0]
    return result[0]


def _not_found(repo: str, revision: str, host: str) -> ModelError:
    what = f"{repo} has no revision {revision}" if revision else f"There is no model {repo}"
    return ModelError(
        "model_not_found",
        "No such model",
        f"{what} at {host}, or it is private and you are not logged in.",
        "Check the spelling (owner/name), or log in with `hf auth login` or HF_TOKEN.",
    )
