//! Colours and patterns. Viewers who cannot tell red from green have the words, the patterns and
//! the marks.

/// Styles of the picture, prefixed with `.tl`, since a page's own elements are in the same
/// document.
pub(super) const PICTURE: &str = r"
.tl { --paper: #fff; --ink: #1d2733; --soft: #5b6877; --line: #e3e8ee; --grid: #eef1f5;
  --bad: #d4123a; --good: #17784a; --up: #79c9a3; --amber: #e0a100; --blue: #3f7fc1;
  --violet: #8a5fc0; --dark: #3c4654; --hatch: #fff;
  font-family: system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif;
  font-variant-numeric: tabular-nums; }
@media (prefers-color-scheme: dark) {
  .tl { --paper: #14191f; --ink: #e4eaf1; --soft: #97a4b3; --line: #2a333d; --grid: #1f262e;
    --bad: #ff4d6d; --good: #2aa56a; --up: #2f8f63; --amber: #d9a21b; --blue: #6aa6e0;
    --violet: #ab86db; --dark: #aab4c0; --hatch: #14191f; } }
.tl text { fill: var(--ink); font-size: 11px; }
.tl .paper { fill: var(--paper); }
.tl .title { font-size: 18px; font-weight: 600; }
.tl .text { font-size: 13px; }
.tl .word { font-size: 13px; font-weight: 700; fill: #fff; }
.tl .verdict { rx: 12px; }
.tl .verdict.good { fill: #17784a; }
.tl .verdict.bad { fill: #c40f34; }
.tl .heading { font-size: 11px; font-weight: 700; fill: var(--soft); letter-spacing: .06em;
  text-transform: uppercase; }
.tl .name { text-anchor: end; }
.tl .note, .tl .key-text, .tl .tick { font-size: 10px; fill: var(--soft); }
.tl .tick { text-anchor: middle; font-size: 11px; }
.tl .rule { fill: var(--line); }
.tl .grid { fill: var(--grid); }
.tl .r0 { --fill: #4aa3df; } .tl .r1 { --fill: #e8a317; } .tl .r2 { --fill: #2fb391; }
.tl .r3 { --fill: #b07fd8; } .tl .r4 { --fill: #c4b71c; } .tl .r5 { --fill: #e583b0; }
.tl .r6 { --fill: #b08d57; } .tl .r7 { --fill: #8299b5; } .tl .mixed { --fill: #98a3af; }
.tl .hold, .tl .key, .tl .keys { fill: var(--fill); }
.tl .hold { rx: 2px; }
.tl .key { rx: 2px; }
.tl .over { fill: url(#tl-over); stroke: var(--soft); stroke-width: .75; }
.tl .in-bar { font-size: 9px; fill: #101820; pointer-events: none; }
.tl .overlap { fill: url(#tl-overlap); stroke: var(--bad); stroke-width: 1; }
.tl .violation { fill: var(--bad); fill-opacity: .22; }
.tl .paused { fill: url(#tl-paused); stroke: var(--soft); stroke-width: .5; }
.tl .state { rx: 1.5px; }
.tl .up { fill: var(--up); }
.tl .warming { fill: url(#tl-warming); stroke: var(--amber); stroke-width: .75; }
.tl .slow { fill: url(#tl-slow); stroke: var(--blue); stroke-width: .75; }
.tl .stopped { fill: url(#tl-stopped); stroke: var(--soft); stroke-width: .75; }
.tl .cut { fill: url(#tl-cut); stroke: var(--violet); stroke-width: .75;
  stroke-dasharray: 3 2; }
.tl .down { fill: var(--dark); }
.tl .plate { fill: var(--paper); rx: 2px; pointer-events: none; }
.tl .on-plate { font-size: 9px; pointer-events: none; }
.tl .fault { fill: var(--ink); stroke: var(--paper); stroke-width: .75; }
.tl .fault-text { font-size: 10px; }
.tl .lapsed { fill: var(--paper); stroke: var(--ink); stroke-width: 1.25; }
.tl .lost, .tl .killed { fill: none; stroke: var(--ink); stroke-width: 1.5; }
.tl .broken { fill: var(--bad); stroke: var(--paper); stroke-width: 1; }
.tl .check, .tl .cross { fill: none; stroke: #fff; stroke-width: 2.25; }
.tl .tint { fill: var(--paper); }
.tl .s-soft { stroke: var(--soft); } .tl .s-ink { stroke: var(--ink); }
.tl .s-amber { stroke: var(--amber); } .tl .s-blue { stroke: var(--blue); }
.tl .s-violet { stroke: var(--violet); } .tl .s-bad { stroke: var(--bad); }
.tl .f-bad { fill: var(--bad); } .tl .s-hatch { stroke: var(--hatch); }
";

/// The patterns, and the marks around their middle.
pub(super) const DEFINITIONS: &str = r#"<defs>
<pattern id="tl-over" width="5" height="5" patternUnits="userSpaceOnUse"><path class="s-soft" d="M-1 1l2-2M0 5l5-5M4 6l2-2"/></pattern>
<pattern id="tl-overlap" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="f-bad" width="6" height="6"/><path class="s-hatch" stroke-width="1.2" d="M-1 5l2 2M0 0l6 6M5-1l2 2"/></pattern>
<pattern id="tl-paused" width="4" height="4" patternUnits="userSpaceOnUse"><path class="s-ink" stroke-opacity=".45" d="M1 0v4"/></pattern>
<pattern id="tl-warming" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="tint" width="6" height="6"/><path class="s-amber" stroke-width="1.5" d="M-1 1l2-2M0 6l6-6M5 7l2-2"/></pattern>
<pattern id="tl-slow" width="8" height="6" patternUnits="userSpaceOnUse"><rect class="tint" width="8" height="6"/><path class="s-blue" stroke-width="1.2" fill="none" d="M0 3q2-3 4 0t4 0"/></pattern>
<pattern id="tl-stopped" width="5" height="5" patternUnits="userSpaceOnUse"><rect class="tint" width="5" height="5"/><path class="s-soft" stroke-width="1.5" d="M2 0v5"/></pattern>
<pattern id="tl-cut" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="tint" width="6" height="6"/><path class="s-violet" d="M1.5 1.5l3 3M4.5 1.5l-3 3"/></pattern>
<path id="tl-fault" d="M0-4.5l4.5 4.5L0 4.5-4.5 0z"/>
<circle id="tl-lapsed" r="3"/>
<path id="tl-lost" d="M1-5.5l-3 4 4 2-3 5"/>
<path id="tl-killed" d="M-3-3l6 6M3-3l-6 6"/>
<path id="tl-broken" d="M0 0l-5-9h10z"/>
<path id="tl-check" d="M-5 0l3.5 4L5-4"/>
<path id="tl-cross" d="M-4-4l8 8M4-4l-8 8"/>
</defs>"#;

/// Styles of the page around it.
pub(super) const PAGE: &str = r"
:root { color-scheme: light dark; --paper: #fff; --ink: #1d2733; --soft: #5b6877; --line: #e3e8ee; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14191f; --ink: #e4eaf1; --soft: #97a4b3; --line: #2a333d; } }
body { margin: 0 auto; padding: 20px 16px 40px; max-width: 1600px; background: var(--paper);
  color: var(--ink); font: 14px/1.5 system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif;
  font-variant-numeric: tabular-nums; }
h1 { font-size: 20px; margin: 0 16px 10px; }
#verdict { margin: 0 16px; display: flex; gap: 12px; align-items: center; flex-wrap: wrap; }
#verdict strong { border-radius: 99px; padding: 2px 14px; color: #fff; }
#verdict.good strong { background: #17784a; }
#verdict.bad strong { background: #c40f34; }
.facts { margin: 8px 16px 0; color: var(--soft); }
.facts b { color: #d4123a; }
.tl { display: block; width: 100%; height: auto; }
details, .footer { margin: 12px 16px; }
summary { cursor: pointer; font-weight: 600; }
table { border-collapse: collapse; margin-top: 6px; }
td { padding: 1px 18px 1px 0; vertical-align: top; }
td:first-child { text-align: right; white-space: nowrap; }
pre { white-space: pre-wrap; border-top: 1px solid var(--line); padding-top: 12px;
  font: 12px/1.5 ui-monospace, 'DejaVu Sans Mono', monospace; }
";
