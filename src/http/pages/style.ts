/** The one style of all pages: phone first, light and dark, nothing to load. */
export const style = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #566171; --paper: #fff; --ground: #eef1f5;
  --line: #d5dbe3; --edge: #768190; --go: #0b6b3a; --on-go: #fff; --paid: #0b6b3a;
  --failed: #a3261d; --pending: #7a5200; --focus: #1a5fd0 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf1; --soft: #a3adba; --paper: #1b212a;
  --ground: #11151b; --line: #343d49; --edge: #7d8897; --go: #57c98a; --on-go: #06210f;
  --paid: #57c98a; --failed: #ff9289; --pending: #f0c060; --focus: #8ab4ff } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; place-items: center;
  padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
main { position: relative; overflow: hidden; width: 100%; max-width: 28rem; padding: 1.75rem;
  background: var(--paper); border: 1px solid var(--line); border-radius: .75rem;
  overflow-wrap: anywhere }
main::before { content: ''; position: absolute; inset: 0 0 auto; height: 5px;
  background: var(--mark, transparent) }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; color: var(--mark, inherit) }
.small h1 { margin: 0; font-size: 1rem; font-weight: 600; color: var(--soft) }
p { margin: 0 0 1rem; text-wrap: pretty }
.paid { --mark: var(--paid) } .failed, .canceled { --mark: var(--failed) }
.pending { --mark: var(--pending) }
.amount { margin: 1.25rem 0 1rem; font-size: clamp(1.75rem, 9vw, 2.5rem); line-height: 1.2;
  font-weight: 700; letter-spacing: -.01em; font-variant-numeric: tabular-nums }
.small .amount { margin: .25rem 0 1.25rem }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1rem; margin: 0 0 1.25rem;
  padding: 1rem 0; border: solid var(--line); border-width: 1px 0 }
dl:has(+ .actions:empty) { margin: 0; padding-bottom: 0; border-bottom: 0 }
dt { color: var(--soft) }
dd { margin: 0; min-width: 0; overflow: hidden }
.id { font-size: .875rem; line-height: 1.7; color: var(--soft) }
.status { font-weight: 700; color: var(--mark, inherit) }
.notice { margin: 0 0 1.25rem }
form + .actions:not(:empty) { margin-top: .75rem }
form { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0 }
.actions { display: grid; gap: .75rem }
button, .button { flex: 1 1 8rem; min-height: 3rem; padding: .7rem 1rem; font: inherit;
  font-weight: 600; line-height: 1.5; text-align: center; text-decoration: none;
  border: 1px solid var(--edge); border-radius: .5rem; background: transparent; color: inherit;
  cursor: pointer }
[hidden] { display: none }
main > :last-child, main > :last-child > :last-child { margin-bottom: 0 }
.go { background: var(--go); border-color: var(--go); color: var(--on-go) }
button:hover, .button:hover { filter: brightness(1.08) }
a { color: inherit }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px }
footer { margin-top: 1.25rem; font-size: .875rem; color: var(--soft) }
.bar { height: 4px; margin: 0 0 1rem; border-radius: 2px; overflow: hidden;
  background: var(--line) }
.bar::after { content: ''; display: block; width: 40%; height: 100%; border-radius: inherit;
  background: var(--mark, var(--soft)) }
@media (prefers-reduced-motion: no-preference) {
  .bar::after { animation: pass 1.8s ease-in-out infinite alternate }
  @keyframes pass { to { transform: translateX(150%) } } }
`
