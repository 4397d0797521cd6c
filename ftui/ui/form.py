"""The form of a training run, drawn from the schema: the control follows from the field's type."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Union, get_args, get_origin

import gradio as gr
import yaml
from pydantic.fields import FieldInfo

from ftui import settings as schema
from ftui.errors import SettingsError
from ftui.ui.say import label

# Gradio adds each control's events (`change`, `input`) when it runs, so its types do not know them.
Control = Any


@dataclass
class Form:
    """The controls by dotted field name, in the order in which handlers get their values.

    prefix: of the controls' names in the browser, since a field may stand on two tabs.
    """

    prefix: str = "field"
    controls: dict[str, Control] = field(default_factory=dict)

    @property
    def inputs(self) -> list[Control]:
        """All controls, for a handler's `inputs` or `outputs`."""
        return list(self.controls.values())

    def draw(self, names: list[str], special: dict[str, Callable[..., Control]] | None = None) -> None:
        """Put the controls of these fields here. special: another control for a field, made with its options."""
        for name in names:
            info = schema.fields()[name]
            options = {
                "label": label(f"field.{name}.title"),
                "info": label(f"field.{name}.help"),
                "visible": schema.applies(name, _defaults()),
                "elem_id": f"{self.prefix}-{name.replace('.', '-')}",
                "min_width": 140 if schema.number(info) else 240,
            }
            make = (special or {}).get(name, _control(info))
            self.controls[name] = make(value=shown(_defaults()[name]), **options)

    def link(self) -> None:
        """Show and hide the fields that depend on another one."""
        for name in self.controls:
            masters = schema.form(schema.fields()[name])["when"]
            for master in masters:
                self.controls[master].change(
                    lambda value, name=name, master=master: gr.update(
                        visible=schema.applies(name, _defaults() | {master: value})
                    ),
                    self.controls[master],
                    self.controls[name],
                    show_progress="hidden",
                    queue=False,
                )

    def read(self, values: tuple[Any, ...] | list[Any]) -> schema.Settings:
        """Settings from the controls' values. Raises SettingsError that names every field at fault."""
        return schema.unflatten(self.flat(list(self.controls), values))

    @staticmethod
    def flat(names: list[str], values: tuple[Any, ...] | list[Any]) -> dict[str, Any]:
        """Each field's value, as its type, by dotted name."""
        fields = schema.fields()
        return {name: typed(fields[name], value) for name, value in zip(names, values, strict=True)}

    def show(self, settings: schema.Settings) -> list[Any]:
        """Updates that put settings into the controls."""
        flat = schema.flatten(settings)
        return [gr.update(value=shown(flat[name])) for name in self.controls]


def shown(value: Any) -> Any:
    """A field's value as its control holds it: lists by comma, mappings as YAML on one line."""
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, dict):
        return yaml.safe_dump(value, default_flow_style=True, allow_unicode=True).strip() if value else ""
    return value


def typed(info: FieldInfo, value: Any) -> Any:
    """A control's value as the field's type; an empty control is what the field has when nothing is said."""
    kind = _plain(info)
    if get_origin(kind) is list:
        return [part.strip() for part in str(value or "").split(",") if part.strip()]
    if get_origin(kind) is dict:
        try:
            return yaml.safe_load(value) or {} if value else {}
        except yaml.YAMLError:
            raise SettingsError(
                "bad_settings",
                "A setting cannot be read",
                f"“{info.title}” holds {value!r}.",
                "Write pairs such as {prompt: question, response: answer}.",
            ) from None
    if value is None or (value == "" and kind is not str):
        return None if _optional(info) else info.get_default(call_default_factory=True)
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _control(info: FieldInfo) -> Callable[..., Control]:
    kind, given = _plain(info), schema.choices(info)
    if given:
        return lambda **options: gr.Dropdown(given, **options)
    if kind is bool:
        return gr.Checkbox
    if kind in (int, float):
        # Without bounds: while "256" is typed it is "2" for a moment, and the checks say it better than a refusal.
        # A step of 1 would make the browser refuse 0.0002.
        return lambda **options: gr.Number(
            precision=0 if kind is int else None, step=1 if kind is int else 0.0001, **options
        )
    return lambda **options: gr.Textbox(max_lines=4, **options)


def _plain(info: FieldInfo) -> Any:
    """The field's type without `| None`."""
    kind = info.annotation
    if get_origin(kind) in (Union, types.UnionType):
        return next(part for part in get_args(kind) if part is not type(None))
    return kind


def _optional(info: FieldInfo) -> bool:
    return type(None) in get_args(info.annotation)


def _defaults() -> dict[str, Any]:
    return schema.flatten(schema.Settings())
