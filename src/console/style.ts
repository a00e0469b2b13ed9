/** The one style of the console: dense on a desktop, cards on a phone, light and dark. */
export const style = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #566171; --paper: #fff; --ground: #eef1f5;
  --line: #d5dbe3; --edge: #768190; --link: #134fb0; --go: #0b6b3a; --on-go: #fff; --good: #0b6b3a;
  --bad: #a3261d; --warn: #7a5200; --focus: #1a5fd0; --tint: #f6f8fb; --bad-tint: #fdf0ef;
  --warn-tint: #fdf6e6; --good-tint: #ecf7f0 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf1; --soft: #a3adba; --paper: #1b212a;
  --ground: #11151b; --line: #343d49; --edge: #7d8897; --link: #8ab4ff; --go: #57c98a;
  --on-go: #06210f; --good: #57c98a; --bad: #ff9289; --warn: #f0c060; --focus: #8ab4ff;
  --tint: #212833; --bad-tint: #35201f; --warn-tint: #332a18; --good-tint: #18302a } }
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: .9375rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
a { color: var(--link); text-underline-offset: .15em }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px }
[hidden] { display: none !important }
.skip { position: absolute; left: -99rem }
.skip:focus { left: .5rem; top: .5rem; z-index: 2; padding: .5rem; background: var(--paper) }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap }
.top { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; padding: .6rem 1rem;
  background: var(--paper); border-bottom: 1px solid var(--line) }
.brand { font-weight: 700; font-size: 1.0625rem; color: inherit; text-decoration: none }
.top form[role=search] { flex: 1 1 14rem; max-width: 34rem; display: flex; gap: .4rem }
.top input { flex: 1; min-width: 0 }
.me { margin-left: auto; position: relative }
.me form { margin: .4rem 0 0 }
nav a, .menu a { display: inline-block; padding: .45rem .6rem; color: inherit; text-decoration: none;
  border-bottom: 3px solid transparent }
nav a:hover { text-decoration: underline }
nav [aria-current] { font-weight: 600; border-color: var(--go) }
nav b { display: inline-block; min-width: 1.5em; padding: 0 .4em; font-size: .8125rem; text-align: center;
  border-radius: 1em; color: var(--paper); background: var(--bad) }
.wide { padding: 0 .4rem; background: var(--paper); border-bottom: 1px solid var(--line) }
.menu { display: none; background: var(--paper); border-bottom: 1px solid var(--line) }
.menu summary { padding: .6rem 1rem; font-weight: 600 }
.menu ul { margin: 0; padding: 0 0 .5rem .5rem; list-style: none }
.menu a { display: block; padding: .6rem; border-bottom: 0 }
main { max-width: 82rem; margin: 0 auto; padding: 1rem }
footer { max-width: 82rem; margin: 0 auto; padding: 0 1rem 1.5rem; color: var(--soft); font-size: .8125rem }
h1 { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem .75rem; margin: .25rem 0 1rem;
  font-size: 1.375rem; line-height: 1.3 }
h2 { margin: 1.75rem 0 .6rem; font-size: 1.0625rem; line-height: 1.3 }
h3 { margin: 1.25rem 0 .4rem; font-size: .9375rem }
p { margin: 0 0 .75rem; max-width: 46rem }
.soft, small { color: var(--soft) }
.num, td.num, th.num { text-align: right; font-variant-numeric: tabular-nums }
code, pre, .id { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: .8125rem }
.id { font-variant-numeric: tabular-nums }
pre { margin: 0 0 1rem; padding: .75rem; max-height: 40rem; overflow: auto; white-space: pre;
  background: var(--tint); border: 1px solid var(--line); border-radius: .375rem }
.panel { margin: 0 0 1rem; padding: 1rem; background: var(--paper); border: 1px solid var(--line);
  border-radius: .5rem }
.panel > :first-child { margin-top: 0 } .panel > :last-child { margin-bottom: 0 }
.grid { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)) }
.grid > .panel { margin: 0 }
.banner, .notice, .fault { margin: 0 0 1rem; padding: .6rem .9rem; max-width: none; border: 1px solid;
  border-left-width: 5px; border-radius: .375rem }
.banner { border-color: var(--warn); background: var(--warn-tint) }
.notice { border-color: var(--good); background: var(--good-tint) }
.fault { border-color: var(--bad); background: var(--bad-tint) }
table { width: 100%; border-collapse: collapse; background: var(--paper); border: 1px solid var(--line) }
caption { padding: 0 0 .4rem; text-align: left; color: var(--soft) }
th, td { padding: .5rem .65rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
th { font-size: .8125rem; font-weight: 600; color: var(--soft); background: var(--tint) }
thead th { overflow-wrap: normal }
tbody th { font-weight: 400; color: inherit; font-size: inherit; background: none }
time { white-space: nowrap }
tbody tr:hover { background: var(--tint) }
.badge { display: inline-block; padding: 0 .5em; font-size: .8125rem; font-weight: 600; line-height: 1.6;
  border: 1px solid; border-radius: .25rem; white-space: nowrap }
.good { color: var(--good) } .bad { color: var(--bad) } .warn { color: var(--warn) } .plain { color: var(--soft) }
dl.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr));
  gap: .6rem 1.5rem; margin: 0 0 1rem }
dt { font-size: .8125rem; color: var(--soft) }
dd { margin: 0; min-width: 0 }
form.filters { display: flex; flex-wrap: wrap; align-items: end; gap: .6rem .75rem; margin: 0 0 1rem }
label, .field { display: grid; grid-template-columns: minmax(0, 1fr); gap: .15rem; max-width: 100%; font-size: .8125rem; color: var(--soft) }
label.check { display: flex; align-items: center; gap: .4rem; font-size: inherit; color: inherit }
input, select, textarea { min-height: 2.25rem; padding: .3rem .55rem; max-width: 100%; font: inherit;
  font-size: .9375rem; color: var(--ink); background: var(--paper); border: 1px solid var(--edge);
  border-radius: .3rem }
input[type=checkbox] { min-height: 0; width: 1.15rem; height: 1.15rem; flex: none; vertical-align: middle }
textarea { width: 100%; min-height: 5rem }
button, .button { display: inline-block; min-height: 2.25rem; padding: .3rem .8rem; font: inherit;
  font-weight: 600; line-height: 1.6; color: inherit; text-decoration: none; background: transparent;
  overflow-wrap: break-word;
  border: 1px solid var(--edge); border-radius: .3rem; cursor: pointer }
button:hover, .button:hover { text-decoration: underline }
.go { background: var(--go); border-color: var(--go); color: var(--on-go) }
.danger { border-color: var(--bad); color: var(--bad) }
.copy { min-height: 0; margin-left: .4rem; padding: 0 .4rem; font-size: .75rem; font-weight: 400;
  color: var(--soft) }
kbd { padding: 0 .3em; font: inherit; border: 1px solid var(--edge); border-radius: .2rem }
dialog { width: min(40rem, calc(100% - 2rem)); padding: 1.25rem; color: inherit;
  background: var(--paper); border: 1px solid var(--edge); border-radius: .6rem }
dialog::backdrop { background: rgb(0 0 0 / .45) }
dialog .panel { margin: 0; padding: 0; border: 0 }
dialog h2 { margin-top: 0 }
dialog dl > div { display: grid; grid-template-columns: 8rem 1fr; padding: .15rem 0 }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; margin: 0 0 1rem }
h1 .actions { margin: 0 0 0 auto; font-size: .9375rem }
.ask { max-width: 38rem }
.ask form { display: grid; grid-template-columns: minmax(0, 1fr); gap: .9rem; margin: 1rem 0 0 }
ul.plain-list { margin: 0; padding: 0; list-style: none }
.problems { margin: 0 0 1rem; padding: 0; list-style: none; background: var(--paper);
  border: 1px solid var(--line); border-radius: .5rem }
.problems li { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: .6rem .9rem;
  border-left: 5px solid var(--bad); border-bottom: 1px solid var(--line) }
.problems li:last-child { border-bottom: 0 } .problems .warned { border-left-color: var(--warn) }
.problems a { margin-left: auto; white-space: nowrap } .problems .soft { flex-basis: 100% }
.tabs { display: flex; flex-wrap: wrap; gap: .25rem; margin: 0 0 1rem }
.tabs a { padding: .25rem .7rem; border: 1px solid var(--line); border-radius: .3rem; color: inherit;
  text-decoration: none; background: var(--paper) }
.tabs [aria-current] { border-color: var(--edge); font-weight: 600 }
summary { cursor: pointer; width: fit-content }
.chart { display: block; width: 100%; height: 6rem; margin: .25rem 0 .5rem }
.chart rect { vector-effect: non-scaling-stroke }
.chart .a { fill: var(--good) } .chart .b { fill: var(--bad); stroke: var(--ink) }
.chart .c { fill: none; stroke: var(--soft) } .chart line { stroke: var(--line) }
.figure { margin: 0; font-size: 1.5rem; font-weight: 700; font-variant-numeric: tabular-nums }
progress { width: 100%; height: 1rem; margin: 0 0 1rem }
.badge:empty { display: none }
.timeline td:first-child, .timeline th:first-child { width: 1%; white-space: nowrap }
.mark { display: inline-block; width: 1.2em; color: var(--soft); font-family: ui-monospace, monospace }
.gap td { padding-block: .15rem; color: var(--soft); background: var(--tint); font-size: .8125rem }
@media (min-width: 75rem) { .rows td:not(.num) > span:not(:empty), .rows tbody th > span { display: block; min-width: 6rem } }
@media (max-width: 47.99rem) {
  .wide { display: none } .menu { display: block }
  .me { margin-left: 0 }
  main { padding: .75rem }
  time { white-space: normal }
  table.rows, .rows tbody, .rows tr, .rows td, .rows tbody th { display: block; width: 100% }
  .rows { background: none; border: 0 }
  .rows thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .rows tr { margin: 0 0 .6rem; padding: .35rem 0; background: var(--paper); border: 1px solid var(--line);
    border-radius: .4rem }
  .rows td, .rows tbody th { display: grid; grid-template-columns: 7rem minmax(0, 1fr); gap: .5rem;
    padding: .2rem .7rem; border: 0; text-align: left }
  .rows td::before, .rows tbody th::before { content: attr(data-label); color: var(--soft);
    font-size: .8125rem }
  .rows td:empty { display: none }
  .rows.timeline td:first-child { width: 100% }
  h1 .actions { margin-left: 0 }
}
`
