"""The look: system fonts, one accent colour, colours that mean something, a rhythm of eight pixels."""

from __future__ import annotations

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


CSS = """
:root { --kept:#1a7f4b; --cut:#b45309; --dropped:#c02626; --learned:#cfe0ff; --learned-ink:#12305f; --muted:#64748b;
        --line:#dbe2ea; --panel:#f7f9fc; --accent:#2f6fde; }
.dark { --kept:#4ade80; --cut:#fbbf24; --dropped:#f87171; --learned:#1e4a94; --learned-ink:#e8f0ff; --muted:#94a3b8;
        --line:#334155; --panel:#182132; --accent:#6b9cf2; }
.gradio-container { max-width: 1440px !important; margin: 0 auto !important; padding: 0 16px 48px !important; }
.gradio-container .html-container { padding: 0; }
#head { display:flex; align-items:center; gap:16px; padding:16px 0 8px; flex-wrap:wrap; }
#head h1 { font-size:22px; font-weight:700; margin:0; letter-spacing:-.01em; }
#head .machine { color:var(--muted); font-size:14px; }
#head .grow { flex:1; }
#head button.mode { border:1px solid var(--line); border-radius:8px; padding:6px 12px; font-size:13px; background:none;
  color:inherit; cursor:pointer; }
#strip-row { border:1px solid var(--line); border-radius:10px; background:var(--panel); padding:8px 12px;
  align-items:center; margin-bottom:4px; }
#strip-row > * { align-self:center; }
#strip-row .strip { display:grid; grid-template-columns:minmax(120px,auto) minmax(80px,1fr) auto; gap:16px; align-items:center; }
#strip-row .strip b { overflow:hidden; text-overflow:ellipsis; white-space:nowrap; }
#strip-row .strip span { color:var(--muted); font-size:13px; font-variant-numeric:tabular-nums; }
.card { border:1px solid var(--line); border-radius:10px; padding:12px 16px; background:var(--panel); margin-bottom:8px; }
.card h4 { margin:0 0 8px; font-size:14px; font-weight:650; }
.card p { margin:4px 0; font-size:14px; }
.card.failed { border-color:var(--dropped); }
.card.failed h4 { color:var(--dropped); }
.fix { font-weight:600; }
.muted { color:var(--muted); font-size:13px; }
.empty { border:1px dashed var(--line); border-radius:10px; padding:32px 24px; text-align:center; color:var(--muted); }
.empty b { color:var(--body-text-color); display:block; margin-bottom:4px; }
.empty p { margin:0; font-size:14px; }
.waiting { display:flex; gap:10px; align-items:center; color:var(--muted); font-size:14px; padding:8px 0; }
.spinner { width:14px; height:14px; border:2px solid var(--line); border-top-color:var(--accent); border-radius:50%;
  display:inline-block; animation:turn 1s linear infinite; flex:none; }
@keyframes turn { to { transform:rotate(360deg); } }
.bar { height:8px; border-radius:4px; background:var(--line); overflow:hidden; width:100%; }
.bar i { display:block; height:100%; background:var(--accent); border-radius:4px; transition:width .4s; }
.bar.unknown i { width:30%; animation:slide 1.6s ease-in-out infinite; }
@keyframes slide { 0% { margin-left:-30%; } 100% { margin-left:100%; } }
@media (prefers-reduced-motion: reduce) { .spinner, .bar.unknown i { animation-duration:6s; } }
.parts { display:flex; height:10px; border-radius:5px; overflow:hidden; background:var(--line); margin:8px 0; }
.parts i.kept { background:var(--kept); } .parts i.cut { background:var(--cut); } .parts i.dropped { background:var(--dropped); }
.parts i.p0 { background:#2f6fde; } .parts i.p1 { background:#7c5cd6; } .parts i.p2 { background:#0f9f8f; }
.parts i.p3 { background:#d97706; } .parts i.p4 { background:#c2486b; } .parts i.p5 { background:#5b8c2a; }
.parts i.p6 { background:#94a3b8; }
.legend { display:flex; flex-wrap:wrap; gap:4px 14px; font-size:13px; }
.legend span i { display:inline-block; width:9px; height:9px; border-radius:2px; margin-right:6px; }
.legend .kept i { background:var(--kept); } .legend .cut i { background:var(--cut); } .legend .dropped i { background:var(--dropped); }
.legend .learned i { background:var(--learned); border:1px solid var(--accent); }
.legend .p0 i { background:#2f6fde; } .legend .p1 i { background:#7c5cd6; } .legend .p2 i { background:#0f9f8f; }
.legend .p3 i { background:#d97706; } .legend .p4 i { background:#c2486b; } .legend .p5 i { background:#5b8c2a; }
.legend .p6 i { background:#94a3b8; }
.figures { display:grid; grid-template-columns:repeat(auto-fit,minmax(104px,1fr)); gap:12px; margin:8px 0; }
.figures div { display:flex; flex-direction:column; }
.figures b { font-size:18px; font-weight:650; font-variant-numeric:tabular-nums; }
.figures span { color:var(--muted); font-size:12px; }
.chip { border-radius:999px; padding:2px 10px; font-size:12px; font-weight:600; background:var(--line); white-space:nowrap; }
.chip.finished { background:var(--kept); color:#fff; } .chip.failed, .chip.lost { background:var(--dropped); color:#fff; }
.chip.running, .chip.starting { background:var(--accent); color:#fff; } .chip.stopped, .chip.stopping { background:var(--cut); color:#fff; }
.dark .chip.finished, .dark .chip.failed, .dark .chip.lost, .dark .chip.running, .dark .chip.starting, .dark .chip.stopped,
.dark .chip.stopping { color:#0b1220; }
.findings { list-style:none; padding:0; margin:0; font-size:14px; }
.findings li { display:flex; gap:10px; padding:6px 0; }
.findings li + li { border-top:1px solid var(--line); }
.findings li > i { font-style:normal; font-weight:700; width:14px; text-align:center; flex:none; }
.findings .warning > i { color:var(--cut); } .findings .error > i { color:var(--dropped); } .findings .ok i { color:var(--kept); font-style:normal; }
.findings em { font-style:normal; color:var(--muted); }
.findings .all { flex-wrap:wrap; gap:4px 16px; }
.tokens { font-family:var(--font-mono); font-size:13px; line-height:1.9; white-space:pre-wrap; overflow-wrap:anywhere;
  border:1px solid var(--line); border-radius:10px; padding:12px 16px; background:var(--panel); max-height:420px; overflow:auto; }
.tokens mark.learned { background:var(--learned); color:var(--learned-ink); border-radius:3px; padding:1px 0; box-shadow:inset -1px 0 0 rgba(100,130,190,.35); }
.tokens span { color:var(--muted); } .tokens s { color:var(--dropped); opacity:.75; }
.tokens .nl { opacity:.45; }
.scroll { overflow:auto; max-height:420px; }
table.plain { border-collapse:collapse; width:100%; font-size:13px; }
table.plain th, table.plain td { text-align:left; padding:5px 12px 5px 0; border-bottom:1px solid var(--line); vertical-align:top; }
.run-head { display:flex; flex-wrap:wrap; gap:8px 16px; align-items:center; margin-bottom:8px; }
.run-head h3 { margin:0; font-size:18px; } .run-head .grow { flex:1; }
.actions { gap:8px !important; }
.log textarea { font-family:var(--font-mono); font-size:12px; }
#tabs > .tab-wrapper { margin-bottom:8px; }
footer { opacity:.6; }
@media (max-width:700px) {
  #strip-row .strip { grid-template-columns:1fr; gap:6px; }
  .gradio-container { padding:0 8px 32px !important; }
}
"""

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
