import type { GaugeName } from './catalogue.ts'

/** One reading of a gauge. */
export interface GaugeValue {
  readonly name: GaugeName
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}
