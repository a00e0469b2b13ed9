import type { Report } from './report.ts'

interface Bar {
  readonly label: string
  /** Of the baseline; 1 is as fast. */
  readonly ratio: number
  readonly rate: number
}

interface Group {
  readonly title: string
  readonly bars: readonly Bar[]
}

const width = 760
const labelWidth = 300
const barWidth = 330
const rowHeight = 24
const titleHeight = 38

const style = `
  text { font: 14px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600 }
  .value { font-variant-numeric: tabular-nums }
  .bar { fill: #2f6f4f }
  .rest { fill: #d8dee4 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .bar { fill: #57ab7a }
    .rest { fill: #30363d }
  }`

/** The rates that a report compares with B and J, as a picture for the README. */
export function drawChart(report: Report): string {
  const groups = groupsOf(report)
  const longest = Math.max(1, ...groups.flatMap(({ bars }) => bars.map(({ ratio }) => ratio)))
  let y = 0
  const parts: string[] = []
  for (const { title, bars } of groups) {
    parts.push(`<text class="title" x="0" y="${y + 24}">${escaped(title)}</text>`)
    y += titleHeight
    for (const bar of bars) {
      parts.push(drawBar(bar, { y, longest }))
      y += rowHeight
    }
  }
  const size = `width="${width}" height="${y}" viewBox="0 0 ${width} ${y}"`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">`,
    `<title>${escaped(groups.map(({ title }) => title).join('; '))}</title>`,
    `<style>${style}\n</style>`,
    ...parts,
    '</svg>\n',
  ].join('\n')
}

function groupsOf({ sections }: Report): readonly Group[] {
  return sections.flatMap(({ title, figures }) => {
    const baseline = ['B', 'J'].find((name) => figures.some(({ subject }) => subject === name))
    if (baseline === undefined) return []
    const bars = figures.map(({ subject, values, of }) => ({
      label: subject === baseline ? `${subject}: ${meaning[baseline]}` : subject,
      ratio: of[baseline]?.median ?? Number.NaN,
      rate: values['perSecond']?.median ?? Number.NaN,
    }))
    return [{ title, bars: bars.filter(({ ratio }) => Number.isFinite(ratio)) }]
  })
}

const meaning: Readonly<Record<string, string>> = {
  B: 'bare HTTP, HMAC and parse',
  J: 'the job in pgbench',
}

interface Place {
  readonly y: number
  readonly longest: number
}

function drawBar({ label, ratio, rate }: Bar, { y, longest }: Place): string {
  const length = Math.max(1, Math.round((ratio / longest) * barWidth))
  const value = `${ratio.toFixed(2)}   ${Math.round(rate).toLocaleString('en')}/s`
  const line = y + 16
  return [
    `<text x="12" y="${line}">${escaped(label)}</text>`,
    `<rect class="rest" x="${labelWidth}" y="${y + 4}" width="${barWidth}" height="14" rx="3"/>`,
    `<rect class="bar" x="${labelWidth}" y="${y + 4}" width="${length}" height="14" rx="3"/>`,
    `<text class="value" x="${labelWidth + barWidth + 12}" y="${line}">${value}</text>`,
  ].join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
