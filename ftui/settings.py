"""The one schema of a training run: form, YAML file, command line, help and validation come from it.

A field is written once, with its default, bounds, unit and help. `Field(json_schema_extra=…)` carries what a
form needs beyond that, made by `_form`: whether everyone touches the field, its unit, and when it applies.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo

from ftui.errors import SettingsError
from ftui.hardware import Dtype, Hardware

SCHEMA_VERSION = 1


def _form(
    *, everyday: bool = False, unit: str = "", when: dict[str, list[str]] | None = None, auto: str = ""
) -> dict[str, Any]:
    """What the form knows of a field. everyday: shown before "all settings" is opened.

    when: {dotted field: values} under which the field applies. auto: what an empty field stands for.
    """
    return {"everyday": everyday, "unit": unit, "when": when or {}, "auto": auto}


class Section(BaseModel):
    """A part of the settings. An unknown name is an error, never passed over in silence."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True, protected_namespaces=())


class ModelSettings(Section):
    """Which model is tuned, and how it is loaded."""

    id: str = Field(
        "starter",
        title="Model",
        description="`starter` (SmolLM2-135M-Instruct), a model of the Hugging Face hub, or a folder.",
        json_schema_extra=_form(everyday=True),
    )
    revision: str = Field(
        "",
        title="Revision",
        description="Branch, tag or commit of a hub model.",
        json_schema_extra=_form(auto="the main branch"),
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto",
        title="Number format",
        description="Format of the weights. Auto takes what this machine computes natively.",
        json_schema_extra=_form(),
    )
    attention: Literal["auto", "sdpa", "eager", "flash_attention_2"] = Field(
        "auto", title="Attention", description="Implementation of attention.", json_schema_extra=_form()
    )
    trust_remote_code: bool = Field(
        False,
        title="Run the model's own code",
        description="Some models bring Python code, which then runs with your rights. Only for authors you trust.",
        json_schema_extra=_form(),
    )


class DataSettings(Section):
    """What is learned, and what is held out to measure it."""

    train: str = Field(
        "samples/lumen-desk.jsonl",
        title="Data",
        description="A file or folder, or a data set of the Hugging Face hub.",
        json_schema_extra=_form(everyday=True),
    )
    validation: str = Field(
        "",
        title="Held-out rows",
        description="A file of rows that are never trained on.",
        json_schema_extra=_form(auto="the data's own validation or test split, else a share of the rows"),
    )
    validation_share: float = Field(
        0.1,
        ge=0,
        le=0.5,
        title="Share held out",
        description="Share of the rows held out where there is no split of its own: 0.1 trains on 90 of 100 rows.",
        json_schema_extra=_form(),
    )
    held_out: Literal["auto", "share", "none"] = Field(
        "auto",
        title="Held out",
        description="Auto: the file you name, else the data's own validation or test split, else a share of the rows.",
        json_schema_extra=_form(),
    )
    split_seed: int = Field(
        42,
        ge=0,
        title="Split seed",
        description="Decides which rows are held out.",
        json_schema_extra=_form(),
    )
    max_length: int = Field(
        1024,
        ge=8,
        le=1_048_576,
        title="Longest row",
        description="Rows longer than this are cut or dropped.",
        json_schema_extra=_form(everyday=True, unit="tokens"),
    )
    long_rows: Literal["trim", "drop"] = Field(
        "trim",
        title="Rows that are too long",
        description="Trim cuts their end off; drop leaves them out.",
        json_schema_extra=_form(),
    )
    learn: Literal["answers", "last_answer", "everything"] = Field(
        "answers",
        title="Learn from",
        description="Which tokens carry loss: all answers of the assistant, the last one, or every token.",
        json_schema_extra=_form(),
    )
    schema_name: str = Field(
        "",
        title="Shape of the rows",
        description="alpaca, sharegpt, messages, prompt-completion or text.",
        json_schema_extra=_form(auto="detected"),
    )
    template: Literal["model", "chatml"] = Field(
        "model",
        title="Chat template",
        description="How a talk is written for the model: its own way, or ChatML for a model that brings none.",
        json_schema_extra=_form(),
    )
    system_role: Literal["system", "first_user"] = Field(
        "system",
        title="System prompt goes",
        description="Into a turn of its own, or in front of the first question, for models that know no system turn.",
        json_schema_extra=_form(),
    )
    mapping: dict[str, str] = Field(
        default_factory=dict,
        title="Columns",
        description="Which column holds what, for example {prompt: question, response: answer}.",
        json_schema_extra=_form(auto="detected"),
    )
    system: str = Field(
        "",
        title="System prompt",
        description="Put before every row that has none.",
        json_schema_extra=_form(auto="none"),
    )
    drop_duplicates: bool = Field(
        False,
        title="Drop duplicates",
        description="Keep only the first of equal rows.",
        json_schema_extra=_form(),
    )
    context_column: str = Field(
        "",
        title="Context for short questions",
        description="A column, such as the history of the talk, whose text is put before questions that are short.",
        json_schema_extra=_form(auto="none"),
    )
    context_below: int = Field(
        40,
        ge=1,
        le=10_000,
        title="Short means below",
        description="Questions with fewer characters than this get the context.",
        json_schema_extra=_form(unit="characters"),
    )
    weight: float = Field(
        1.0,
        gt=0,
        le=100,
        title="Times each row is seen",
        description="In one epoch: 1 is once, 2 is twice, 0.5 takes half of the rows.",
        json_schema_extra=_form(unit="times"),
    )
    mix: dict[str, float] = Field(
        default_factory=dict,
        title="Mixed with",
        description="Further data sets, each with how often its rows are seen: {chat.jsonl: 1, code.jsonl: 0.5}.",
        json_schema_extra=_form(auto="none"),
    )
    max_rows: int | None = Field(
        None,
        ge=1,
        title="At most",
        description="Train on the first rows only, to try things out.",
        json_schema_extra=_form(unit="rows", auto="all rows"),
    )

    @field_validator("mix")
    @classmethod
    def _weights(cls, value: dict[str, float]) -> dict[str, float]:
        for name, weight in value.items():
            if not name.strip() or not 0 < weight <= 100:
                raise ValueError(
                    f"{name!r} has the weight {weight:g}; it must name data and lie above 0, up to 100"
                )
        return value


_LORA = {"method.kind": ["lora"]}


class MethodSettings(Section):
    """Which weights are trained."""

    kind: Literal["lora", "full"] = Field(
        "lora",
        title="Method",
        description="LoRA trains a small adapter beside the weights; full trains every weight.",
        json_schema_extra=_form(everyday=True),
    )
    rank: int = Field(
        16,
        ge=1,
        le=1024,
        title="Rank",
        description="Width of the adapter: more learns more and needs more memory.",
        json_schema_extra=_form(when=_LORA),
    )
    alpha: int = Field(
        32,
        ge=1,
        le=4096,
        title="Alpha",
        description="The adapter's output is scaled by alpha / rank.",
        json_schema_extra=_form(when=_LORA),
    )
    dropout: float = Field(
        0.0,
        ge=0,
        lt=1,
        title="Dropout",
        description="Share of the adapter's inputs that is left out at random.",
        json_schema_extra=_form(when=_LORA),
    )
    targets: list[str] = Field(
        default_factory=lambda: ["all-linear"],
        title="Layers",
        description="`all-linear`, or names of layers such as q_proj, v_proj.",
        json_schema_extra=_form(when=_LORA),
    )


# Fields of trl's own configuration that decide where a run lives and who gets it.
_NOT_EXTRA = (
    "output_dir",
    "logging_dir",
    "push_to_hub",
    "hub_model_id",
    "resume_from_checkpoint",
    "dataset_kwargs",
    "remove_unused_columns",
    "max_length",
    "use_cpu",
    "report_to",
    "deepspeed",
    "fsdp",
    "fsdp_config",
)


class TrainingSettings(Section):
    """How the weights are changed."""

    stage: Literal["sft"] = Field(
        "sft", title="Stage", description="sft learns from given answers.", json_schema_extra=_form()
    )
    epochs: float = Field(
        3,
        gt=0,
        le=1000,
        title="Epochs",
        description="How often each row is seen.",
        json_schema_extra=_form(everyday=True),
    )
    max_steps: int | None = Field(
        None,
        ge=1,
        title="Steps",
        description="Stops after so many updates, whatever the epochs say.",
        json_schema_extra=_form(unit="steps", auto="as the epochs need"),
    )
    learning_rate: float | None = Field(
        None,
        gt=0,
        le=1,
        title="Learning rate",
        description="Size of a step.",
        json_schema_extra=_form(everyday=True, auto="2e-4 for LoRA, 2e-5 for full"),
    )
    batch_size: int = Field(
        4,
        ge=1,
        le=4096,
        title="Batch",
        description="Rows that each process computes at once.",
        json_schema_extra=_form(everyday=True, unit="rows"),
    )
    gradient_accumulation: int = Field(
        1,
        ge=1,
        le=4096,
        title="Accumulation",
        description="Batches gathered before the weights change.",
        json_schema_extra=_form(everyday=True, unit="batches"),
    )
    seed: int = Field(
        42, ge=0, title="Seed", description="Same seed, same order of rows.", json_schema_extra=_form()
    )
    logging_steps: int = Field(
        1,
        ge=1,
        title="Log every",
        description="A point of the curve each so many steps.",
        json_schema_extra=_form(unit="steps"),
    )
    save_steps: int | None = Field(
        None,
        ge=1,
        title="Checkpoint every",
        description="A checkpoint can be resumed and chatted with.",
        json_schema_extra=_form(unit="steps", auto="at the end of each epoch"),
    )
    save_total_limit: int = Field(
        2,
        ge=1,
        title="Checkpoints kept",
        description="Older ones are removed.",
        json_schema_extra=_form(),
    )
    scheduler: Literal["linear", "cosine", "constant", "constant_with_warmup"] = Field(
        "cosine", title="Schedule", description="How the learning rate falls.", json_schema_extra=_form()
    )
    warmup_steps: int = Field(
        0,
        ge=0,
        title="Warm-up",
        description="Steps over which the learning rate rises from zero.",
        json_schema_extra=_form(unit="steps"),
    )
    weight_decay: float = Field(
        0.0, ge=0, le=1, title="Weight decay", description="Pulls weights to zero.", json_schema_extra=_form()
    )
    max_grad_norm: float = Field(
        1.0,
        ge=0,
        title="Gradient clipping",
        description="Longer gradients are shortened to this; 0 leaves them.",
        json_schema_extra=_form(),
    )
    optimizer: Literal["adamw_torch_fused", "adamw_torch", "adafactor", "sgd"] = Field(
        "adamw_torch_fused",
        title="Optimiser",
        description="Rule by which the weights change.",
        json_schema_extra=_form(),
    )
    gradient_checkpointing: Literal["auto", "on", "off"] = Field(
        "auto",
        title="Gradient checkpointing",
        description="Saves memory and costs about a third more time. Auto: on with a card, off on a CPU.",
        json_schema_extra=_form(),
    )
    group_by_length: bool = Field(
        True,
        title="Batches of like length",
        description="Less padding, so faster; measured a third faster on short chat rows.",
        json_schema_extra=_form(),
    )
    extra: dict[str, Any] = Field(
        default_factory=dict,
        title="More of trl's settings",
        description="Further fields of trl's SFTConfig, passed on as they are.",
        json_schema_extra=_form(auto="none"),
    )

    @field_validator("extra")
    @classmethod
    def _leaves_ours_alone(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in value:
            if name in _NOT_EXTRA or any(word in name for word in ("token", "password", "secret", "api_key")):
                raise ValueError(
                    f"`{name}` is decided by ftui or comes from the environment, so it cannot stand here"
                )
        return value


class EvaluationSettings(Section):
    """When the held-out rows are measured during a run."""

    steps: int | None = Field(
        None,
        ge=1,
        title="Evaluate every",
        description="Loss on the held-out rows each so many steps.",
        json_schema_extra=_form(unit="steps", auto="at the end of each epoch"),
    )
    batch_size: int = Field(
        8,
        ge=1,
        le=4096,
        title="Batch in evaluation",
        description="Rows computed at once.",
        json_schema_extra=_form(unit="rows"),
    )


class TrackingSettings(Section):
    """Where else the run is recorded. ftui's own record is always kept."""

    mlflow: bool = Field(
        False,
        title="MLflow",
        description="Curves and settings also go to MLflow (MLFLOW_TRACKING_URI, else the workspace's database).",
        json_schema_extra=_form(),
    )
    experiment: str = Field(
        "ftui",
        title="Experiment",
        description="Name of the MLflow experiment.",
        json_schema_extra=_form(),
    )


class LaunchSettings(Section):
    """On what the run is computed."""

    strategy: Literal["auto", "single", "ddp"] = Field(
        "auto",
        title="Strategy",
        description="Auto: one process, or one a card where there are several (ddp).",
        json_schema_extra=_form(),
    )
    processes: int | None = Field(
        None,
        ge=1,
        le=64,
        title="Processes",
        description="Copies of the model that share the rows.",
        json_schema_extra=_form(auto="one a card", when={"launch.strategy": ["ddp"]}),
    )


class OutputSettings(Section):
    """Where the result goes besides the job's own folder."""

    directory: str = Field(
        "",
        title="Copy of the result",
        description="A folder inside the workspace or FTUI_DATA_ROOTS that receives the model too.",
        json_schema_extra=_form(auto="only in the run's folder"),
    )


class Settings(Section):
    """All of a training run."""

    schema_version: int = Field(SCHEMA_VERSION, title="Schema version", json_schema_extra=_form())
    name: str = Field(
        "run",
        min_length=1,
        max_length=80,
        title="Name",
        description="What you call this run.",
        json_schema_extra=_form(everyday=True),
    )
    model: ModelSettings = Field(default_factory=ModelSettings)
    data: DataSettings = Field(default_factory=DataSettings)
    method: MethodSettings = Field(default_factory=MethodSettings)
    training: TrainingSettings = Field(default_factory=TrainingSettings)
    evaluation: EvaluationSettings = Field(default_factory=EvaluationSettings)
    tracking: TrackingSettings = Field(default_factory=TrackingSettings)
    launch: LaunchSettings = Field(default_factory=LaunchSettings)
    output: OutputSettings = Field(default_factory=OutputSettings)

    @model_validator(mode="after")
    def _known_version(self) -> Settings:
        if self.schema_version > SCHEMA_VERSION:
            raise ValueError(
                f"this file has schema version {self.schema_version}, and this ftui knows up to {SCHEMA_VERSION}"
            )
        return self


SECTIONS: dict[str, type[Section]] = {
    name: info.annotation
    for name, info in Settings.model_fields.items()
    if isinstance(info.annotation, type) and issubclass(info.annotation, Section)
}


def fields() -> dict[str, FieldInfo]:
    """Every field by its dotted name, in the order of the form: `name`, `model.id`, `model.revision` …"""
    found: dict[str, FieldInfo] = {"name": Settings.model_fields["name"]}
    for section, kind in SECTIONS.items():
        found |= {f"{section}.{name}": info for name, info in kind.model_fields.items()}
    return found


def form(field: FieldInfo) -> dict[str, Any]:
    """What the form knows of a field: everyday, unit, when, auto."""
    return dict(field.json_schema_extra) if isinstance(field.json_schema_extra, dict) else _form()


def number(field: FieldInfo) -> bool:
    """Whether a field holds a number, which needs little room."""
    kinds = {field.annotation, *get_args(field.annotation)}
    return bool(kinds & {int, float})


def choices(field: FieldInfo) -> list[str]:
    """The values of a field that has a fixed list of them; else none."""
    return [str(value) for value in get_args(field.annotation) if isinstance(value, str)]


def applies(dotted: str, values: dict[str, Any]) -> bool:
    """Whether a field plays a part, given the other fields' values by dotted name."""
    needs = form(fields()[dotted])["when"]
    return all(str(values.get(other)) in wanted for other, wanted in needs.items())


def flatten(settings: Settings) -> dict[str, Any]:
    """Every field's value by dotted name."""
    tree = settings.model_dump()
    return {name: _reach(tree, name.split(".")) for name in fields()}


def parse(tree: Any, where: str = "the settings") -> Settings:
    """Settings from a nested mapping. Collects every problem, then raises one SettingsError."""
    if not isinstance(tree, dict):
        raise SettingsError(
            "bad_settings",
            "These are no settings",
            f"{where} must hold sections such as `model:` and `data:`, but holds {type(tree).__name__}.",
            "Start from a preset: python -m ftui presets show quickstart",
        )
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        problems = [_problem(item) for item in error.errors()]
        unknown = any(item["type"] == "extra_forbidden" for item in error.errors())
        raise SettingsError(
            "unknown_setting" if unknown else "bad_settings",
            "A setting cannot be used" if len(problems) == 1 else f"{len(problems)} settings cannot be used",
            f"In {where}: {'; '.join(problem for problem, _ in problems)}.",
            " ".join(dict.fromkeys(fix for _, fix in problems)),
        ) from None


def unflatten(values: dict[str, Any], where: str = "the form") -> Settings:
    """Settings from values by dotted name."""
    tree: dict[str, Any] = {}
    for dotted, value in values.items():
        _put(tree, dotted, value)
    return parse(tree, where)


def override(settings: Settings, assignments: list[str]) -> Settings:
    """The settings with `section.field=value` applied; values are read as YAML, so 1e-4 and [a, b] work."""
    tree = settings.model_dump()
    for assignment in assignments:
        dotted, equals, text = assignment.partition("=")
        if not equals:
            raise SettingsError(
                "bad_settings",
                "No value given",
                f"--set {assignment} has no equals sign.",
                "Write --set training.learning_rate=1e-4",
            )
        _put(tree, dotted.strip(), read_value(text))
    return parse(tree, "--set")


def read_value(text: str) -> Any:
    """A value as people type it. YAML 1.1 takes 1e-4 for a word, so numbers are tried first."""
    try:
        return float(text) if any(mark in text for mark in ".eE") else int(text)
    except ValueError:
        try:
            return yaml.safe_load(text)
        except yaml.YAMLError:
            return text


def load(path: Path) -> Settings:
    """Settings from a YAML file (a preset, a saved form) or from a job's `job.yaml`."""
    try:
        tree = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        raise SettingsError(
            "not_found",
            "No such settings file",
            f"{path} is not there.",
            "Give the path of a YAML file, or the name of a preset: python -m ftui presets list",
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError, IsADirectoryError) as error:
        first = str(error).replace("\n", " ")[:200]
        raise SettingsError(
            "bad_settings", "Not a YAML file", f"{path} cannot be read: {first}.", "Mend the line it names."
        ) from None
    if isinstance(tree, dict) and "settings" in tree:
        tree = tree["settings"]
    if isinstance(tree, dict):
        tree = {key: value for key, value in tree.items() if key != "preset"}
    return parse(tree, str(path))


def dump(settings: Settings) -> str:
    """The settings as YAML, every field written out."""
    return yaml.safe_dump(settings.model_dump(), sort_keys=False, allow_unicode=True)


def learning_rate(settings: Settings) -> tuple[float, str]:
    """The learning rate that will be used, with the reason."""
    if settings.training.learning_rate is not None:
        return settings.training.learning_rate, "as set"
    if settings.method.kind == "full":
        return 2e-5, "usual for full fine-tuning"
    return 2e-4, "usual for LoRA"


def dtype(settings: Settings, hardware: Hardware) -> tuple[Dtype, str]:
    """The number format of the weights that will be used, with the reason."""
    if settings.model.dtype != "auto":
        return settings.model.dtype, "as set"
    return hardware.dtype()


def processes(settings: Settings, hardware: Hardware) -> tuple[int, str]:
    """How many training processes will be started, with the reason."""
    if settings.launch.strategy == "single":
        return 1, "as set"
    cards = max(1, len(hardware.gpus))
    if settings.launch.strategy == "ddp":
        return (settings.launch.processes, "as set") if settings.launch.processes else (cards, "one a card")
    return cards, "one a card" if hardware.has_gpu else "one, since there is no card"


def _put(tree: dict[str, Any], dotted: str, value: Any) -> None:
    *path, last = dotted.split(".")
    node = tree
    for name in path:
        node = node.setdefault(name, {})
        if not isinstance(node, dict):
            raise SettingsError(
                "unknown_setting",
                "Unknown setting",
                f"{dotted} names nothing.",
                f"Did you mean {_nearest(dotted)}?",
            )
    node[last] = value


def _reach(tree: dict[str, Any], path: list[str]) -> Any:
    for name in path:
        tree = tree[name]
    return tree


def _nearest(dotted: str) -> str:
    known = list(fields())
    close = difflib.get_close_matches(dotted, known, n=1, cutoff=0.0)
    tail = dotted.rsplit(".", 1)[-1]
    same = [name for name in known if name.rsplit(".", 1)[-1] == tail]
    return (same or close)[0]


def _problem(item: Any) -> tuple[str, str]:
    dotted = ".".join(str(part) for part in item["loc"]) or "the file"
    info = fields().get(dotted)
    if item["type"] == "extra_forbidden":
        return f"`{dotted}` is no setting", f"Did you mean `{_nearest(dotted)}`?"
    given = repr(item.get("input"))[:60]
    reason = item["msg"].removeprefix("Value error, ")
    reason = reason[:1].lower() + reason[1:]
    hint = f"`{dotted}`: {info.description}" if info is not None and info.description else "Mend it."
    return f"`{dotted}` is {given}, but {reason}" if dotted != "the file" else reason, hint
