// SPDX-License-Identifier: Apache-2.0
// How the HTML report looks.
#pragma once

namespace hvdize::tool {

inline constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --line: #8884; --old: #e5534b26; --new: #2ea04326; --mark: #0969da; --warn: #9a6700; --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --mark: #58a6ff; --warn: #d29922; --bad: #ff7b72; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 1500px; padding: 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; border-top: 1px solid var(--line); padding-top: 1rem; overflow-wrap: anywhere; } h3 { font-size: 1rem; overflow-wrap: anywhere; }
a { color: var(--mark); text-decoration: none; } a:hover { text-decoration: underline; }
ul.list { list-style: none; padding: 0; } ul.list li { padding: .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.severity-warning { color: var(--warn); } .severity-error { color: var(--bad); font-weight: 600; }
.place { font-family: ui-monospace, monospace; font-size: .85rem; }
.code { font: .8rem/1.45 ui-monospace, monospace; border: 1px solid var(--line); }
.row { display: grid; grid-template-columns: 3.2rem minmax(0, 1fr) 3.2rem minmax(0, 1fr); }
.row:target, li:target, section:target { outline: 2px solid var(--mark); }
.number { text-align: right; padding-right: .5rem; opacity: .55; user-select: none; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; padding-left: .3rem; }
.removed { background: var(--old); } .added { background: var(--new); }
.why { font-size: .75rem; float: right; padding: 0 .4rem; }
details summary { cursor: pointer; opacity: .7; padding: .1rem .5rem; font-size: .75rem; }
section.page { border-top: 1px solid var(--line); } section.page pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8rem; }
@media (max-width: 760px) {
  .row { grid-template-columns: 2.4rem minmax(0, 1fr); }
  .row.same .after, .row .empty { display: none; }
}
)";

}  // namespace hvdize::tool
