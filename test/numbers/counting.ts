import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import type { CountSpan } from '../../src/database/count-tables.ts'
import type { MetricName } from '../../src/numbers/catalogue.ts'
import type { Numbers } from '../../src/numbers/slots.ts'

/** What is stored: `<span> <time> <metric> <gateway> <label>`, with the sum over all processes. */
export async function stored(
  { db }: Pick<Database, 'db'>,
  span: CountSpan,
): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; value: number }>`
    select concat_ws(' ', to_char(at at time zone 'UTC', 'HH24:MI'), metric,
      nullif(gateway, ''), nullif(label, '')) as name, sum(value)::float8 as value
    from billing.counts where span = ${span} group by 1 order by 1`.execute(db)
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

/** The sum of a metric over all minutes and processes, by gateway and label. */
export async function counted(
  { db }: Pick<Database, 'db'>,
  metric: string,
): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; value: number }>`
    select concat_ws(' ', nullif(gateway, ''), nullif(label, '')) as name,
      sum(value)::float8 as value
    from billing.counts where span = 'minute' and metric = ${metric}
    group by 1 order by 1`.execute(db)
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

/** What a process has counted of a metric so far, by its labels. */
export function shown(numbers: Numbers, metric: MetricName): Record<string, number> {
  const ours = [...numbers.slots()].filter((slot) => slot.metric === metric && slot.value > 0)
  return Object.fromEntries(ours.map(({ labels, value }) => [labels.join(' '), value]))
}

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: readonly Sample[]
}

// Prometheus reads numbers as Go does, in any case: the client writes Nan where nothing was measured.
const sampleLine =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?(?:[0-9.]+(?:e[+-]?\d+)?|Inf)|\+Inf|NaN|Nan)$/
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y

/**
 * Reads the text format of Prometheus (version 0.0.4), strictly: each family has its help and type
 * once, before its samples; nothing else is there.
 */
export function readMetrics(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, { type: string; help: string; samples: Sample[] }>()
  let help: readonly [name: string, text: string] | undefined
  let name = ''
  assert.ok(text.endsWith('\n'), 'the text ends with a line break')
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line)
    if (comment?.[1] === 'HELP') {
      help = [comment[2] ?? '', comment[3] ?? '']
      continue
    }
    if (comment?.[1] === 'TYPE') {
      name = comment[2] ?? ''
      assert.equal(help?.[0], name, `the help of ${name} comes first`)
      assert.ok(!families.has(name), `${name} is there once`)
      families.set(name, { type: comment[3] ?? '', help: help?.[1] ?? '', samples: [] })
      continue
    }
    const sample = readSample(line)
    const family = families.get(name)
    const isParted = family?.type === 'histogram' || family?.type === 'summary'
    const of = isParted ? sample.name.replace(/_(?:bucket|sum|count)$/, '') : ''
    assert.ok(sample.name === name || of === name, `${line} stands under ${name}`)
    family?.samples.push(sample)
  }
  return new Map([...families].map(([key, family]) => [key, { name: key, ...family }]))
}

function readSample(line: string): Sample {
  const [, name = '', labels = '', value = ''] = sampleLine.exec(line) ?? []
  assert.notEqual(name, '', `${line} is a sample`)
  const read: Record<string, string> = {}
  label.lastIndex = 0
  while (label.lastIndex < labels.length) {
    const [, key = '', text = ''] = label.exec(labels) ?? []
    assert.notEqual(key, '', `${line} has labels`)
    assert.ok(!(key in read), `${line} has ${key} once`)
    read[key] = text
  }
  return { name, labels: read, value: Number(value.replace('Inf', 'Infinity')) }
}

/** The value of a sample with these labels among others. */
export function valueOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const all = [...families.values()].flatMap(({ samples }) => samples)
  return all.find(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )?.value
}
