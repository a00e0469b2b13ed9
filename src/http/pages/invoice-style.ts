/**
 * Of a document, in addition to the style of all pages: a sheet of paper on a screen, and on A4, in
 * black on white whatever the screen is like.
 */
export const invoiceStyle = `
header, main { max-width: 50rem }
.invoice { padding: clamp(1.5rem, 6vw, 4rem) clamp(1.25rem, 6vw, 4rem) }
.invoice h1 { margin: 0; font-size: clamp(1.6rem, 6vw, 2.5rem); line-height: 1.15;
  letter-spacing: -.02em; color: inherit; font-variant-numeric: tabular-nums }
.invoice h2, .kicker, .facts dt, thead th { margin: 0 0 .35rem; font-size: .75rem; font-weight: 600;
  letter-spacing: .08em; text-transform: uppercase; color: var(--soft) }
.invoice p { margin: 0 }
.top { display: flex; flex-wrap: wrap; align-items: flex-start; justify-content: space-between;
  gap: 1rem 2rem }
.invoice .stamp { margin: .5rem; padding: .3rem .9rem; font-size: 1.125rem; font-weight: 800; letter-spacing: .14em;
  line-height: 1.3; text-transform: uppercase; color: var(--mark); border: 3px double currentColor;
  border-radius: .4rem; rotate: -4deg }
.invoice .large { margin: .75rem .5rem; font-size: clamp(1.75rem, 8vw, 3.25rem); border-width: 5px; border-style: solid;
  letter-spacing: .1em }
.invoice .tried { margin: 1rem 0 0; padding: .6rem .9rem; font-weight: 600; border: 2px dashed currentColor }
.invoice .voided { margin: 1rem 0 0; font-weight: 600; color: var(--mark) }
.facts, .parties { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 11rem), 1fr));
  gap: 1.25rem 2rem; margin: 2rem 0 0 }
.parties { grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr));
  padding-top: 2rem; border-top: 1px solid var(--line) }
.facts dd { font-variant-numeric: tabular-nums }
.name { font-weight: 600 }
table { width: 100%; margin: 2.5rem 0 0; border-collapse: collapse }
thead th { padding: 0 0 .6rem; text-align: left; border-bottom: 2px solid var(--ink) }
tbody th { font-weight: 400; text-align: left }
tbody th, td { padding: .8rem 0; vertical-align: top; border-bottom: 1px solid var(--line) }
td, thead th:not(:first-child) { padding-left: 1rem; text-align: right }
td { min-width: 4.5rem; font-variant-numeric: tabular-nums }
.sums { display: block; width: min(100%, 22rem); margin: 1rem 0 0 auto;
  font-variant-numeric: tabular-nums }
.sums div { display: flex; justify-content: space-between; gap: .25rem 1.5rem; padding: .3rem 0 }
.sums dd { text-align: right }
.sums .last { margin-top: .35rem; padding-top: .75rem; border-top: 2px solid var(--ink);
  font-size: 1.25rem; font-weight: 700 }
.sums .last dt { color: inherit }
.bank { margin: 2.5rem 0 0; padding: 1rem 1.25rem; border-left: 3px solid var(--brand, var(--edge)) }
.invoice .about { margin: 2rem 0 0 }
.invoice .note { margin: 2.5rem 0 0; padding-top: 1rem; border-top: 1px solid var(--line);
  font-size: .875rem; color: var(--soft) }
.paper { display: none }
@media (min-width: 40rem) { body { padding: 2.5rem 1rem } }
@page { size: A4; margin: 16mm 18mm 18mm;
  @bottom-right { content: counter(page) ' / ' counter(pages); font: 8pt system-ui, sans-serif;
    color: #566171 } }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --paper: #fff; --ground: #fff;
    --line: #ccc; --edge: #888; --paid: #0b6b3a; --failed: #a3261d; --pending: #7a5200 }
  html { font-size: 10.5pt }
  body { display: block; min-height: 0; padding: 0; background: none }
  header { max-width: none; margin: 0 0 10mm; padding: 0 }
  main { max-width: none; overflow: visible; border: 0; border-radius: 0 }
  .invoice { padding: 0 }
  main::before { display: none }
  thead { display: table-header-group }
  tr, section, .sums, .note { break-inside: avoid }
  .sums { break-before: avoid }
  .screen, .help { display: none }
  .paper { display: block; color: var(--soft) }
  .stamp { print-color-adjust: exact }
}
`
