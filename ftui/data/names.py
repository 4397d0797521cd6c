"""The names under which people keep prompts, answers and talks, and the roles of those who speak."""

from __future__ import annotations

from collections.abc import Iterable

# canonical name → column names, the likelier first
COLUMNS: dict[str, tuple[str, ...]] = {
    "messages": ("messages", "conversations", "conversation", "dialogue", "dialog", "chat", "chats", "turns"),
    "prompt": (
        "instruction",
        "prompt",
        "question",
        "query",
        "problem",
        "user",
        "human",
        "user_prompt",
        "instructions",
        "questions",
        "docstring",
        "function_docstring",
        "func_documentation_string",
        "指令",
        "问题",
        "提问",
        "input",
        "inputs",
    ),
    "input": ("input", "context", "输入"),
    "response": (
        "output",
        "response",
        "completion",
        "answer",
        "target",
        "reply",
        "solution",
        "assistant",
        "outputs",
        "responses",
        "answers",
        "completions",
        "targets",
        "code",
        "func_code_string",
        "function",
        "输出",
        "回答",
        "答案",
        "回复",
    ),
    "system": ("system", "system_prompt", "system_message"),
    "history": ("history",),
    "reasoning": (
        "reasoning",
        "reasoning_content",
        "think",
        "thinking",
        "thought",
        "thoughts",
        "complex_cot",
        "cot",
        "chain_of_thought",
        "rationale",
    ),
    "chosen": ("chosen", "chosen_response", "response_chosen", "preferred"),
    "rejected": ("rejected", "rejected_response", "response_rejected", "dispreferred"),
    "label": ("kto_tag", "label", "labels", "desirable", "thumbs_up"),
    "text": ("text", "content", "document", "body", "raw_content", "page_content"),
    "tools": ("tools", "functions"),
}
# what a mapping may say instead
ALIASES = {"completion": "response", "instruction": "prompt", "output": "response"}

ROLES: dict[str, str] = {
    **dict.fromkeys(("system", "developer", "sys", "系统"), "system"),
    **dict.fromkeys(("user", "human", "usr", "prompter", "customer", "用户"), "user"),
    **dict.fromkeys(
        (
            "assistant",
            "gpt",
            "bot",
            "chatgpt",
            "model",
            "ai",
            "chatbot",
            "bing",
            "bard",
            "claude",
            "llm",
            "助手",
        ),
        "assistant",
    ),
    **dict.fromkeys(
        ("tool", "observation", "function", "function_response", "tool_response", "ipython"), "tool"
    ),
    **dict.fromkeys(("function_call", "tool_call", "tool_calls"), "call"),
}


def plain(name: str) -> str:
    """A column or role name without what people vary: case, outer spaces, spaces and dashes between words."""
    return "_".join(name.strip().strip("\ufeff").casefold().replace("-", " ").split())


def find(columns: Iterable[str], canonical: str, taken: Iterable[str] = ()) -> str:
    """The column that holds a canonical field, "" where none does. taken: columns that hold another one."""
    used = set(taken)
    by_plain: dict[str, str] = {}
    for column in columns:
        if column not in used:
            by_plain.setdefault(plain(column), column)
    return next((by_plain[name] for name in COLUMNS[canonical] if name in by_plain), "")
