"""Names and aliases that a registry would refuse are refused before any work, with a name that would do."""

from __future__ import annotations

import pytest

from ftui.errors import SettingsError
from ftui.export import names


@pytest.mark.parametrize("name", ["support-desk", "main.support.desk", "Ünïcode ok", "a b"])
def test_names_that_mlflow_takes_pass(name: str) -> None:
    names.check(name, "champion", "sqlite:///x.db")


@pytest.mark.parametrize("name", ["", "  ", "a/b", "a:b", "..", ".", " a", "x" * 251, "a\nb"])
def test_names_that_mlflow_refuses_are_refused_with_an_example(name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        names.check(name, "", "sqlite:///x.db")
    assert caught.value.code == "bad_name"
    assert "support-desk" in caught.value.fix


@pytest.mark.parametrize("registry", ["databricks-uc", "databricks-uc://work"])
@pytest.mark.parametrize("name", ["desk", "support.desk", "a.b.c.d", "main..desk", "main.sup port.desk"])
def test_unity_catalog_wants_three_levels(name: str, registry: str) -> None:
    with pytest.raises(SettingsError) as caught:
        names.check(name, "champion", registry)
    assert "catalog.schema.model" in caught.value.message
    names.check("main.support.desk", "champion", registry)


@pytest.mark.parametrize("alias", ["latest", "LATEST", "v1", "V20", "a b", "a/b", "x" * 256])
def test_reserved_and_odd_aliases_are_refused(alias: str) -> None:
    with pytest.raises(SettingsError) as caught:
        names.check("desk", alias, "")
    assert caught.value.code == "bad_alias"
