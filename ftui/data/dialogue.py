"""Whole dialogues that stand in one text: told by the marks of chat templates, or by labels at the starts of lines.

    "Human: Hi\n\nAssistant: Hello"  →  [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]

Marks such as `<|im_start|>` are written for nothing else. Labels such as "Q:" also stand in novels and minutes, so
they are believed only where a text begins with one, the answer's label follows, and most texts of a column do so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ftui.data.names import plain

Turn = dict[str, str]
_LOOK = 200
_MOST = 0.75
_BEGIN = re.compile(
    r"^(?:\s|<s>|<bos>|<\|begin_of_text\|>|<\|endoftext\|>|<｜begin▁of▁sentence｜>|\[gMASK\]|<sop>)+"
)
_LABEL = re.compile(r"(?m)^[ \t]*(?:\*\*)?([^\W\d_]{1,15})(?:\*\*)?[ \t]*[:：]")
# what a prompt ends with that waits for its answer
_OPEN = (":", "：", "|>", "｜>", ">:", "|]", "[/INST]", "assistant", "model", "Response", "Answer", "回答")
_ENDS = ("</s>", "<eos>", "<|endoftext|>", "<|end_of_text|>", "<|im_end|>", "### End")
_BOILERPLATE = re.compile(
    r"Below is an instruction that describes a task\b.*?appropriately completes the request\.", re.S
)
_INSTRUCTION_TAG = re.compile(r"\[INST\](.*?)(?:\[/INST\](.*?)(?=(?:<s>\s*)?\[INST\]|\Z)|\Z)", re.DOTALL)
_SYSTEM_TAG = re.compile(r"\s*<<SYS>>(.*?)<</SYS>>", re.DOTALL)
_SYSTEM_PROMPT_TAG = re.compile(r"\[/?SYSTEM_PROMPT\]")


@dataclass(frozen=True)
class _Marks:
    """hint: stands in every text that has such marks. start: with the group `role`. end: what closes a turn.

    Where there is no end, the next turn's start is it.
    """

    hint: str
    start: re.Pattern[str]
    end: re.Pattern[str] | None = None


def _marks(hint: str, start: str, end: str = "") -> _Marks:
    return _Marks(hint, re.compile(start), re.compile(end) if end else None)


_TEMPLATES = (
    _marks("<|im_start|>", r"<\|im_start\|>[ \t]*(?P<role>\w[\w-]*)[ \t]*(?:\r?\n)?", r"<\|im_end\|>"),
    _marks(
        "header",
        r"<\|(?:start_header_id|header_start)\|>\s*(?P<role>\w+)\s*"
        r"<\|(?:end_header_id|header_end)\|>(?:[ \t]*\r?\n){0,2}",
        r"<\|(?:eot_id|eom_id|eot|end_of_text)\|>",
    ),
    _marks("<start_of_turn>", r"<start_of_turn>[ \t]*(?P<role>\w+)[ \t]*(?:\r?\n)?", r"<end_of_turn>"),
    _marks(
        "<|",
        r"<\|(?P<role>system|user|assistant|human|prompter|bot|model|observation|tool)\|>[ \t]*(?:\r?\n)?",
        r"</s>|<\|end\|>|<\|endoftext\|>",
    ),
    _marks("<｜", r"<｜(?P<role>User|Assistant)｜>", r"<｜end▁of▁sentence｜>"),
    _marks(
        "_TOKEN|>",
        r"<\|START_OF_TURN_TOKEN\|><\|(?P<role>SYSTEM|USER|CHATBOT)_TOKEN\|>",
        r"<\|END_OF_TURN_TOKEN\|>",
    ),
    _marks(">:", r"<(?P<role>human|bot|user|assistant|system)>:[ \t]*"),
    _marks("[|", r"\[\|(?P<role>Human|AI)\|\][ \t]*"),
    _marks("ASSISTANT:", r"(?:(?<=\s)|^|(?<=</s>))(?P<role>SYSTEM|USER|ASSISTANT):[ \t]*"),
    _marks("###", r"###[ \t]*(?P<role>Human|User|Assistant|System|Bot|AI)[ \t]*:[ \t]*"),
    _marks(
        "###",
        r"(?m)^[ \t]*###[ \t]*(?P<role>System|Instruction|Input|Context|Question|Response|Answer|Output"
        r"|指令|输入|输出|问题|回答)[ \t]*[:：]?[ \t]*(?:\r?\n|(?<=[:：])|(?<=[:：][ \t]))",
    ),
    _marks("Assistant:", r"(?:\A\s*|\n\r?\n)(?P<role>Human|Assistant|System):[ \t]*"),
)
# who asks, who answers
_FAMILIES = (
    (
        ("human", "user", "customer"),
        ("assistant", "ai", "bot", "gpt", "chatgpt", "chatbot", "model", "agent"),
    ),
    (("q", "question"), ("a", "answer")),
    (("instruction", "prompt"), ("response", "completion", "output", "answer")),
    (("问", "问题", "提问", "q"), ("答", "回答", "答案", "a")),
    (("用户", "客户"), ("助手", "助理", "客服", "机器人", "ai")),
    (("患者", "病人"), ("医生",)),
    (("patient",), ("doctor",)),
    (("frage", "nutzer", "benutzer"), ("antwort", "assistent")),
    (("вопрос", "пользователь"), ("ответ", "ассистент")),
    (("質問", "ユーザー"), ("回答", "アシスタント")),
    (("pregunta", "usuario"), ("respuesta", "asistente")),
    (("utilisateur", "question"), ("réponse", "assistant")),
)
_SYSTEM = ("system", "系统")
_ASKS = {"human", "user", "prompter", "instruction", "question", "指令", "问题"}
_ANSWERS = {"assistant", "bot", "ai", "model", "chatbot", "response", "answer", "output", "输出", "回答"}
_BESIDE = {"input", "context", "输入"}


def are_dialogues(texts: Iterable[object]) -> bool:
    """Whether most texts of a column are whole dialogues. What is no text or blank is passed over."""
    given = [text for text in texts if isinstance(text, str) and text.strip()][:_LOOK]
    return bool(given) and sum(is_dialogue(text) for text in given) >= _MOST * len(given)


def is_dialogue(text: str) -> bool:
    """Whether a text is surely a dialogue: a question and an answer, each marked, and the first at its beginning."""
    found = _sure_turns(text)
    if found is None:
        return False
    roles = [turn["role"] for turn in found]
    return "user" in roles and "assistant" in roles[roles.index("user") :]


def asked_in(text: str) -> list[Turn] | None:
    """The turns of a prompt that a template has written and left open for the answer; None for any other text."""
    end = text[-40:].rstrip()
    if not end.endswith(_OPEN):
        return None
    if end.endswith("[/INST]"):
        return _of_instruction_tags(text) if "[INST]" in text else None
    for marks in _TEMPLATES:
        found = _split(text, marks) if marks.hint in text else []
        if len(found) > 1 and found[-1]["role"] == "assistant" and not found[-1]["content"].strip():
            return found[:-1]
    return None


def whole_dialogue(text: str) -> list[Turn] | None:
    """The turns of a text that is surely a dialogue, None for any other text."""
    return _sure_turns(text) if is_dialogue(text) else None


def turns_in(text: str) -> list[Turn] | None:
    """The turns of a text that is said to be a dialogue: its sure marks, else the labels of which it has most.

    What stands before the first mark is a system turn. None where nothing is marked.
    """
    found = _template_turns(text)
    if found:
        return found
    words = [plain(found.group(1)) for found in _LABEL.finditer(text)]
    for family in _FAMILIES:
        marks = _labels_of(family, words)
        if marks is not None:
            return _split(text, marks)
    return None


def _sure_turns(text: str) -> list[Turn] | None:
    found = _template_turns(text)
    if found:
        return found
    words = [plain(found.group(1)) for found in _LABEL.finditer(text)]
    if not words or not _LABEL.match(text.lstrip("\ufeff \t\r\n")):
        return None
    for family in _FAMILIES:
        marks = _labels_of(family, words)
        if marks is None or words[0] not in (*family[0], *_SYSTEM):
            continue
        turns = _split(text, marks)
        roles = [turn["role"] for turn in turns if turn["role"] != "system"]
        changes = sum(left != right for left, right in pairwise(roles))
        if len(roles) > 1 and changes * 2 >= len(roles) - 1 and roles[:2] == ["user", "assistant"]:
            return turns
    return None


def _labels_of(family: tuple[tuple[str, ...], tuple[str, ...]], words: list[str]) -> _Marks | None:
    """The labels of a family that a text uses: the first who asks and the first who answers; None without both.

    Others of the family are none, so that a line such as "model: small" stays in the answer that it stands in.
    """
    asks, answers = (next((word for word in words if word in side), "") for side in family)
    return _labels(asks, answers) if asks and answers else None


def _template_turns(text: str) -> list[Turn] | None:
    if "[INST]" in text:
        return _of_instruction_tags(text)
    for marks in _TEMPLATES:
        turns = _split(text, marks) if marks.hint in text else []
        roles = {turn["role"] for turn in turns}
        if "assistant" in roles and (len(roles) > 1 or marks.end is not None):
            return turns
    return None


def _split(text: str, marks: _Marks) -> list[Turn]:
    """The turns between the marks, [] where there are none."""
    starts = list(marks.start.finditer(text))
    turns: list[Turn] = []
    if not starts:
        return turns
    before = _BOILERPLATE.sub("", _BEGIN.sub("", text[: starts[0].start()])).strip()
    if before:
        turns.append({"role": "system", "content": before})
    for start, following in zip(starts, [*starts[1:], None], strict=True):
        part = text[start.end() : following.start() if following else len(text)]
        closed = marks.end.search(part) if marks.end else None
        content = part[: closed.start()] if closed else _without_end(part)
        if not closed:
            content = re.sub(r"^(?:[ \t]*\r?\n)+", "", content)
        role = plain(start.group("role"))
        if role in _BESIDE and turns and turns[-1]["role"] == "user":
            if content.strip():
                turns[-1]["content"] += "\n" + content
            continue
        turns.append({"role": _ROLE_OF.get(role, role), "content": content})
    return turns


def _without_end(text: str) -> str:
    """The text without the white space and the end marks behind it."""
    text = text.rstrip()
    while end := next((end for end in _ENDS if text.endswith(end)), ""):
        text = text.removesuffix(end).rstrip()
    return text


def _of_instruction_tags(text: str) -> list[Turn]:
    """The turns of `<s>[INST] <<SYS>>…<</SYS>> … [/INST] … </s>`."""
    turns: list[Turn] = []
    for found in _INSTRUCTION_TAG.finditer(text):
        if not turns:
            before = _SYSTEM_PROMPT_TAG.sub("", _BEGIN.sub("", text[: found.start()])).strip()
            asked = found.group(1)
            system = _SYSTEM_TAG.match(asked)
            before = system.group(1).strip() if system else before
            if before:
                turns.append({"role": "system", "content": before})
            asked = asked[system.end() :] if system else asked
        else:
            asked = found.group(1)
        turns.append({"role": "user", "content": asked.strip()})
        answer = _without_end(found.group(2) or "").strip()
        if answer:
            turns.append({"role": "assistant", "content": answer})
    return turns


_ROLE_OF = {
    **dict.fromkeys(_ASKS, "user"),
    **dict.fromkeys(_ANSWERS, "assistant"),
    **{name: "user" for asks, _ in _FAMILIES for name in asks},
    **{name: "assistant" for _, answers in _FAMILIES for name in answers},
    **dict.fromkeys(_SYSTEM, "system"),
}


@lru_cache(64)
def _labels(asks: str, answers: str) -> _Marks:
    words = "|".join(re.escape(word) for word in (asks, answers, *_SYSTEM))
    return _marks(":", rf"(?im)^[ \t]*(?:\*\*)?(?P<role>{words})(?:\*\*)?[ \t]*[:：](?:\*\*)?[ \t]*")
