import type { Alert, Fact, Severity } from '../../src/health/fact.ts'
import { allFacts } from '../../src/health/facts.ts'

const severityLabels = { error: 'critical', warning: 'warning', info: 'info' } as const

/** The rules of the facts, as they stand in the last group of the file. */
export function alertRules(): string {
  return allFacts.flatMap((row) => (row.alerts ?? []).map((alert) => ruleOf(row, alert))).join('\n')
}

function ruleOf(row: Fact, alert: Alert): string {
  const { severity, threshold } = levelOf(row, alert)
  const labels = Object.keys(row.gauge?.labels ?? {})
  const metric = alert.metric ?? row.gauge?.name ?? ''
  const by = ['job', ...labels].join(', ')
  const expr = alert.expr ?? `max by (${by}) (quittance_${metric}) > ${threshold}`
  const texts = textsOf(row)
  const fix = row.fix(texts).replace(/\.?$/, '.')
  const said = [fix, ...(alert.note === undefined ? [] : [alert.note]), `See docs/${alert.docs}.`]
  return `      - alert: ${alert.name}
        expr: ${expr.includes('\n') ? block('|', expr.split('\n')) : expr}
        for: ${alert.for}
        labels: { severity: ${severityLabels[severity]} }
        annotations:
          summary: '${row.says(texts).replaceAll("'", "''")}'
          description: ${block('>-', wrapped(said.join(' ')), '  ')}
`
}

function levelOf({ severity }: Fact, alert: Alert) {
  if (typeof severity === 'string') return { severity, threshold: undefined }
  const [only] = Object.keys(severity) as Severity[]
  const level = alert.severity ?? only ?? 'warning'
  return { severity: level, threshold: severity[level] }
}

/** Prometheus puts in the labels of the alert, and its value. */
function textsOf({ value, gauge }: Fact): Readonly<Record<string, string>> {
  const labels = gauge?.labels ?? { gateway: 'gateway', endpoint: 'endpoint' }
  const texts: Readonly<Record<string, string>> = {
    share: '{{ $value | humanizePercentage }}',
    ...(value !== undefined && {
      [value]: `{{ $value${value.endsWith('Seconds') ? ' | humanizeDuration' : ''} }}`,
    }),
    ...Object.fromEntries(
      Object.entries(labels).map(([label, figure]) => [figure, `{{ $labels.${label} }}`]),
    ),
  }
  return new Proxy(texts, {
    get(target, name) {
      const text = target[String(name)]
      if (text === undefined) throw new Error(`an alert has no figure ${String(name)}`)
      return text
    },
  })
}

function block(sign: string, lines: readonly string[], deeper = ''): string {
  return [sign, ...lines.map((line) => `          ${deeper}${line}`)].join('\n')
}

function wrapped(text: string): readonly string[] {
  const lines = ['']
  for (const [word] of text.matchAll(/(?:\{\{.*?\}\}|\S)+/g)) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + word.length > 96) lines.push(word)
    else lines.splice(-1, 1, last === '' ? word : `${last} ${word}`)
  }
  return lines
}
