import { parse } from 'yaml'
import { read } from '../tidy/source-files.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

interface RuleTest {
  readonly input_series: readonly { readonly series: string }[]
  readonly promql_expr_test: readonly {
    readonly expr: string
    readonly exp_samples: readonly { readonly labels: string }[]
  }[]
}

interface Target {
  readonly refId: string
  readonly expr: string
  readonly legendFormat: string
  readonly datasource: unknown
}

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly datasource?: unknown
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
  readonly targets?: readonly Target[]
}

interface Variable {
  readonly name: string
  readonly type: string
  readonly definition?: string
  readonly datasource?: unknown
}

interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly schemaVersion: number
  readonly time: { readonly from: string; readonly to: string }
  readonly annotations: { readonly list: readonly unknown[] }
  readonly templating: { readonly list: readonly Variable[] }
  readonly panels: readonly Panel[]
}

export const rulesPath = 'deploy/prometheus/quittance.rules.yml'
export const testsPath = 'deploy/prometheus/quittance.rules.test.yml'
const { groups } = parse(read(rulesPath)) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[]
}
export const rules = groups.flatMap((group) => group.rules)
export const { tests } = parse(read(testsPath)) as { readonly tests: readonly RuleTest[] }
export const dashboard = JSON.parse(read('deploy/grafana/quittance.json')) as Dashboard
export const variables = dashboard.templating.list
export const panels = dashboard.panels.filter(({ type }) => type !== 'row')
export const targets = panels.flatMap(({ targets = [] }) => targets)
/** What Grafana queries: of panels, and of variables. */
export const queries = [
  ...targets.map(({ expr }) => expr),
  ...variables.flatMap(({ definition }) => definition ?? []),
]
