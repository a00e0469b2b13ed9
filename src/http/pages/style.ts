/** What the content stands on, in light and in dark. */
export const papers = { light: '#fff', dark: '#1b212a' } as const

/** The one style of all pages: phone first, light and dark, nothing to load. */
export const style = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #566171;
  --paper: ${papers.light}; --ground: #eef1f5;
  --line: #d5dbe3; --edge: #768190; --go: #0b6b3a; --on-go: #fff; --paid: #0b6b3a;
  --failed: #a3261d; --pending: #7a5200; --focus: #1a5fd0 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf1; --soft: #a3adba;
  --paper: ${papers.dark};
  --ground: #11151b; --line: #343d49; --edge: #7d8897; --go: #57c98a; --on-go: #06210f;
  --paid: #57c98a; --failed: #ff9289; --pending: #f0c060; --focus: #8ab4ff } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column;
  align-items: center; justify-content: center; gap: 1rem; padding: 1rem;
  background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere }
header, main { width: 100%; max-width: 28rem }
header { display: flex; align-items: center; gap: .75rem; padding: 0 .25rem; font-weight: 600 }
header img { flex: none; max-width: 50%; max-height: 2.5rem; padding: .25rem; border-radius: .375rem;
  background: #fff }
main { position: relative; overflow: hidden; padding: 1.75rem;
  background: var(--paper); border: 1px solid var(--line); border-radius: .75rem }
main::before { content: ''; position: absolute; inset: 0 0 auto; height: 5px;
  background: var(--mark, var(--brand, transparent)) }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; color: var(--mark, inherit);
  text-wrap: balance }
.small h1 { margin: 0; font-size: 1rem; font-weight: 600; color: var(--soft) }
p { margin: 0 0 1rem; text-wrap: pretty }
.paid { --mark: var(--paid) } .failed, .canceled { --mark: var(--failed) }
.pending, .disputed { --mark: var(--pending) }
.amount { margin: 1.25rem 0 .5rem; font-size: clamp(1.75rem, 9vw, 2.5rem); line-height: 1.2;
  font-weight: 700; letter-spacing: -.01em; font-variant-numeric: tabular-nums }
.small .amount { margin-top: .25rem }
.about { color: var(--soft) }
.about + .about { margin-top: -.75rem }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1rem; margin: 0 0 1rem }
dt { color: var(--soft) }
dd { margin: 0; min-width: 0; overflow: hidden }
.status { font-weight: 700; color: var(--mark, inherit) }
form { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0 0 }
.actions { display: grid; gap: .75rem; margin: 1.25rem 0 0 }
.actions:empty { display: none }
form + .actions { margin-top: .75rem }
button, .button { flex: 1 1 8rem; min-height: 3rem; padding: .7rem 1rem; font: inherit;
  font-weight: 600; line-height: 1.5; text-align: center; text-decoration: none;
  border: 1px solid var(--edge); border-radius: .5rem; background: transparent; color: inherit;
  cursor: pointer }
.field { flex: 1 1 100%; display: grid; gap: .25rem; color: var(--soft) }
select { width: 100%; min-height: 3rem; padding: 0 .75rem; font: inherit; color: var(--ink);
  background: var(--paper); border: 1px solid var(--edge); border-radius: .5rem }
[hidden] { display: none }
.go { background: var(--go); border-color: var(--go-edge, var(--go)); color: var(--on-go) }
button:hover, .button:hover { text-decoration: underline; text-underline-offset: .2em }
a { color: inherit }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px }
.help { margin: .25rem 0 0; color: var(--soft) }
.help a { display: inline-block }
details, footer { margin: 1rem 0 0; font-size: .875rem; color: var(--soft) }
details { margin-top: 1.25rem; padding-top: 1rem; border-top: 1px solid var(--line) }
summary { width: fit-content; padding: .15rem 0; cursor: pointer }
details dl { grid-template-columns: 1fr; gap: 0; margin: .5rem 0 0 }
details dd:not(:last-child) { margin-bottom: .5rem }
details dd { color: var(--ink) }
main > :last-child { margin-bottom: 0 }
.bar { height: 4px; margin: 0 0 1rem; border-radius: 2px; overflow: hidden;
  background: var(--line) }
.bar::after { content: ''; display: block; width: 40%; height: 100%; border-radius: inherit;
  background: var(--mark, var(--soft)) }
@media (prefers-reduced-motion: no-preference) {
  .bar::after { animation: pass 1.8s ease-in-out infinite alternate }
  @keyframes pass { to { transform: translateX(150%) } }
}
`
