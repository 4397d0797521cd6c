"""The look: system fonts, one accent colour, colours that mean something, a rhythm of eight pixels."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

ACCENT = "#2f6fde"
RAW, SMOOTH, EVALUATION = "#a9bfe8", ACCENT, "#d97706"

_FONT = ["system-ui", "-apple-system", "Segoe UI", "Noto Sans", "Noto Sans CJK SC", "sans-serif"]
_MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]


def theme() -> gr.themes.Base:
    """Gradio's default theme with our accent and without any font from elsewhere."""
    return gr.themes.Default(
        primary_hue=gr.themes.colors.blue,
        neutral_hue=gr.themes.colors.slate,
        radius_size=gr.themes.sizes.radius_md,
        spacing_size=gr.themes.sizes.spacing_md,
        font=_FONT,
        font_mono=_MONO,
    ).set(
        button_primary_background_fill=ACCENT,
        button_primary_background_fill_hover="#2459b8",
        button_primary_background_fill_dark=ACCENT,
        button_primary_text_color="#ffffff",
        block_title_text_weight="600",
        block_info_text_size="12px",
    )


CSS = (Path(__file__).parent / "page.css").read_text("utf-8")

# The system's preference counts until the person presses the button; the choice is kept in the browser.
HEAD = """
<script>
(() => {
  const kept = localStorage.getItem('ftui-mode');
  const dark = kept ? kept === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  const apply = (on) => document.body && document.body.classList.toggle('dark', on);
  document.addEventListener('DOMContentLoaded', () => apply(dark));
  setTimeout(() => apply(dark), 300);
  document.addEventListener('click', (event) => {
    if (!event.target.closest('#head button.mode')) return;
    const on = !document.body.classList.contains('dark');
    apply(on);
    localStorage.setItem('ftui-mode', on ? 'dark' : 'light');
  });
})();
</script>
"""
