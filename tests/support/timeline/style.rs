//! Colours and patterns. Viewers who cannot tell red from green have the words, the patterns and
//! the marks.

/// Styles of the picture, prefixed with `.tl`, since a page's own elements are in the same
/// document. All colours are explicit: programs other than browsers know no variables.
pub(super) const PICTURE: &str = r"
.tl { font-family: system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif;
  font-variant-numeric: tabular-nums; }
.tl text { fill: #1d2733; font-size: 11px; }
.tl .paper, .tl .plate, .tl .tint { fill: #fff; }
.tl .title { font-size: 18px; font-weight: 600; }
.tl .text { font-size: 13px; }
.tl .word { font-size: 13px; font-weight: 700; fill: #fff; }
.tl .verdict { rx: 12px; }
.tl .verdict.good { fill: #17784a; }
.tl .verdict.bad { fill: #c40f34; }
.tl .heading, .tl .note, .tl .key-text, .tl .tick { fill: #5b6877; }
.tl .heading { font-size: 11px; font-weight: 700; letter-spacing: .06em;
  text-transform: uppercase; }
.tl .name { text-anchor: end; }
.tl .note, .tl .key-text { font-size: 10px; }
.tl .tick { text-anchor: middle; font-size: 11px; }
.tl .rule { fill: #e3e8ee; }
.tl .grid { fill: #eef1f5; }
.tl .r0 { fill: #4aa3df; } .tl .r1 { fill: #e8a317; } .tl .r2 { fill: #2fb391; }
.tl .r3 { fill: #b07fd8; } .tl .r4 { fill: #c4b71c; } .tl .r5 { fill: #e583b0; }
.tl .r6 { fill: #b08d57; } .tl .r7 { fill: #8299b5; } .tl .mixed { fill: #98a3af; }
.tl .hold, .tl .key, .tl .plate { rx: 2px; }
.tl .over { fill: url(#tl-over); stroke-width: .75; }
.tl .in-bar { font-size: 9px; fill: #101820; pointer-events: none; }
.tl .overlap { fill: url(#tl-overlap); stroke-width: 1; }
.tl .violation { fill: #d4123a; fill-opacity: .22; }
.tl .paused { fill: url(#tl-paused); stroke-width: .5; }
.tl .state { rx: 1.5px; }
.tl .up { fill: #79c9a3; }
.tl .warming { fill: url(#tl-warming); stroke-width: .75; }
.tl .slow { fill: url(#tl-slow); stroke-width: .75; }
.tl .stopped { fill: url(#tl-stopped); stroke-width: .75; }
.tl .cut { fill: url(#tl-cut); stroke-width: .75; stroke-dasharray: 3 2; }
.tl .down { fill: #3c4654; }
.tl .plate, .tl .on-plate { pointer-events: none; }
.tl .on-plate { font-size: 9px; }
.tl .fault { fill: #1d2733; stroke: #fff; stroke-width: .75; }
.tl .fault-text { font-size: 10px; }
.tl .lapsed { fill: #fff; stroke: #1d2733; stroke-width: 1.25; }
.tl .lost, .tl .killed { fill: none; stroke: #1d2733; stroke-width: 1.5; }
.tl .broken { fill: #d4123a; stroke: #fff; stroke-width: 1; }
.tl .check, .tl .cross { fill: none; stroke: #fff; stroke-width: 2.25; }
.tl .s-soft, .tl .over, .tl .paused, .tl .stopped { stroke: #5b6877; }
.tl .s-amber, .tl .warming { stroke: #e0a100; } .tl .s-blue, .tl .slow { stroke: #3f7fc1; }
.tl .s-violet, .tl .cut { stroke: #8a5fc0; } .tl .overlap { stroke: #d4123a; }
.tl .s-ink { stroke: #1d2733; } .tl .f-bad { fill: #d4123a; } .tl .s-hatch { stroke: #fff; }
@media (prefers-color-scheme: dark) {
  .tl text { fill: #e4eaf1; }
  .tl .paper, .tl .plate, .tl .tint { fill: #14191f; }
  .tl .heading, .tl .note, .tl .key-text, .tl .tick { fill: #97a4b3; }
  .tl .rule { fill: #2a333d; }
  .tl .grid { fill: #1f262e; }
  .tl .violation { fill: #ff4d6d; }
  .tl .up { fill: #2f8f63; }
  .tl .down { fill: #aab4c0; }
  .tl .fault { fill: #e4eaf1; stroke: #14191f; }
  .tl .lapsed { fill: #14191f; stroke: #e4eaf1; }
  .tl .lost, .tl .killed { stroke: #e4eaf1; }
  .tl .broken { fill: #ff4d6d; stroke: #14191f; }
  .tl .s-soft, .tl .over, .tl .paused, .tl .stopped { stroke: #97a4b3; }
  .tl .s-amber, .tl .warming { stroke: #d9a21b; } .tl .s-blue, .tl .slow { stroke: #6aa6e0; }
  .tl .s-violet, .tl .cut { stroke: #ab86db; } .tl .overlap { stroke: #ff4d6d; }
  .tl .s-ink { stroke: #e4eaf1; } .tl .f-bad { fill: #ff4d6d; } .tl .s-hatch { stroke: #14191f; }
}
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
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 20px 16px 40px; max-width: 1600px; background: #fff;
  color: #1d2733; font: 14px/1.5 system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif;
  font-variant-numeric: tabular-nums; }
h1 { font-size: 20px; margin: 0 16px 10px; }
#verdict { margin: 0 16px; display: flex; gap: 12px; align-items: center; flex-wrap: wrap; }
#verdict strong { border-radius: 99px; padding: 2px 14px; color: #fff; }
#verdict.good strong { background: #17784a; }
#verdict.bad strong { background: #c40f34; }
.facts { margin: 8px 16px 0; color: #5b6877; }
.facts b { color: #d4123a; }
.tl { display: block; width: 100%; height: auto; }
details, .footer { margin: 12px 16px; }
summary { cursor: pointer; font-weight: 600; }
table { border-collapse: collapse; margin-top: 6px; }
td { padding: 1px 18px 1px 0; vertical-align: top; }
td:first-child { text-align: right; white-space: nowrap; }
pre { white-space: pre-wrap; border-top: 1px solid #e3e8ee; padding-top: 12px;
  font: 12px/1.5 ui-monospace, 'DejaVu Sans Mono', monospace; }
@media (prefers-color-scheme: dark) {
  body { background: #14191f; color: #e4eaf1; }
  .facts { color: #97a4b3; }
  pre { border-color: #2a333d; }
}
";
