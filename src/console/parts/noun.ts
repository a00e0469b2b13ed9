import { html } from 'hono/html'
import type { Html } from '../../http/pages/layout.ts'
import { fieldError } from '../../kernel/errors.ts'
import { snakeCase } from '../../kernel/field-names.ts'
import { labelOf, textOf } from '../../kernel/noun-text.ts'
import type { Money } from '../../kernel/money.ts'
import type { Field, Filter as NounFilter, Filters, FilterValues, Noun } from '../../kernel/noun.ts'
import { readUuid } from '../../kernel/uuid.ts'
import type { Payable } from '../../payments/payment.ts'
import type { Visit } from '../context.ts'
import { gatewayChoice } from './choices.ts'
import { chosen, chosenOf, type Filter } from './filters.ts'
import { given } from './given.ts'
import { chosenPayable, payableFilter, payableOf } from './payable.ts'
import { shown } from './shown.ts'
import { facts, table, type Cell, type Column } from './table.ts'
import { number } from '../../kernel/figures.ts'
import { amount, idLink, idText, nothing, time } from './values.ts'

/** The pages of a noun, by what its ids name. */
const sections: Readonly<Record<string, string>> = {
  payment: 'payments',
  subscription: 'subscriptions',
  review: 'reviews',
  call: 'calls',
  event: 'events',
  endpoint: 'endpoints',
  invoice: 'invoices',
  run: 'runs',
  gateway: 'gateways',
}

/** Cells that a page writes on its own. */
export type Cells<Row> = Readonly<Record<string, (row: Row) => Cell>>

interface Place<Row> {
  readonly visit: Visit
  readonly cells?: Cells<Row>
}

/** A field's value, as a page shows it. */
function cellOf<Row extends object>(
  [name, field]: readonly [string, Field<unknown, unknown>],
  row: Row,
  { visit, cells = {} }: Place<Row>,
): Cell {
  const own = cells[name]
  if (own !== undefined) return own(row)
  const { console } = visit
  const { [name]: value } = row as Readonly<Record<string, unknown>>
  const text = textOf(name, field, row)
  if (text === null) return nothing
  const section = field.of === undefined ? undefined : sections[field.of]
  if (field.kind === 'time') return time(new Date(text), console.now())
  const isPlain = field.toText === undefined
  if (isPlain && ['count', 'number'].includes(field.kind)) return number(value as number)
  if (field.of === 'payable') return payableOf(console, value as Payable)
  const money = moneyOf(field, row, value)
  if (money !== undefined) return amount(money)
  if (typeof value === 'bigint') return number(value)
  if (section === undefined) return field.kind === 'id' ? idText(text) : shown(text)
  const href = `${console.path}/${section}/${text}`
  return field.kind === 'id' ? idLink(href, text) : html`<a href="${href}">${shown(text)}</a>`
}

function moneyOf(
  { kind }: Field<unknown, unknown>,
  { currency }: Partial<Money>,
  value: unknown,
): Money | undefined {
  if (kind === 'money') return value as Money
  if (kind !== 'minor_units' || currency === undefined) return undefined
  return { amount: value as bigint, currency }
}

/** What a page needs of a noun, whatever rows it has. */
type Shown = Omit<Noun<never>, 'filters' | 'view'>

/** All that is known of one, but what the page shows elsewhere. */
export function nounFacts<Row extends object>(
  { facts: fields }: Shown,
  row: Row,
  { without = [], ...place }: Place<Row> & { readonly without?: readonly string[] },
): Html {
  const said = Object.entries(fields).filter(
    ([name, field]) => !without.includes(name) && textOf(name, field, row) !== null,
  )
  // Its own id is for copying.
  const cells = {
    id: () => idText(textOf('id', fields['id'] ?? { kind: 'id' }, row)),
    ...place.cells,
  }
  return facts(said.map((one) => [titleOf(...one), cellOf(one, row, { ...place, cells })] as const))
}

/** Rows of a list. */
export function nounTable<Row extends object>(
  noun: Shown,
  rows: readonly Row[],
  {
    columns = [...noun.columns, ...(noun.notes ?? [])],
    caption = `${capitalised(noun.plural)}, newest first`,
    empty,
    ids,
    ...place
  }: Place<Row> & {
    readonly columns?: readonly string[]
    readonly caption?: string
    readonly empty: Html | string
    /** As in `TableParts`. */
    readonly ids?: readonly string[]
  },
): Html {
  const fields = columns.flatMap((name) => {
    const field = noun.facts[name]
    return field === undefined ? [] : [[name, field] as const]
  })
  return table({
    caption,
    columns: fields.map((one) => columnOf(...one)),
    rows: rows.map((row) => fields.map((one) => cellOf(one, row, place))),
    empty,
    ...(ids && { ids }),
  })
}

function columnOf(name: string, field: Field<unknown, unknown>): Column {
  const isNumber = ['count', 'number', 'minor_units', 'money'].includes(field.kind)
  return { title: titleOf(name, field), isNumber }
}

function titleOf(name: string, field: Field<unknown, unknown>): string {
  return field.of === 'payable' ? 'For' : capitalised(labelOf(name, field))
}

function capitalised(label: string): string {
  return label.charAt(0).toUpperCase() + label.slice(1)
}

/** The name of a filter in the address: `payment` for `paymentId`, `managed_by` for `managedBy`. */
function parameterOf(name: string, { parameter }: Filters[string]): string {
  return parameter ?? snakeCase(name.replace(/Id$/, ''))
}

/** The filters of a list, as fields of its form. */
export function nounFilters({ console }: Visit, filters: Filters): readonly Filter[] {
  return Object.entries(filters).map(([filter, one]): Filter => {
    const { kind, values, help = '', helpNot = 'the others' } = one
    const name = parameterOf(filter, one)
    const label = capitalised(one.label ?? name.replaceAll('_', ' '))
    if (kind === 'gateway') return gatewayChoice(console.core)
    if (kind === 'payable') return payableFilter
    if (kind === 'flag') {
      const options = [['true', help] as const, ['false', helpNot] as const]
      return { kind: 'choice', name, label, options }
    }
    if (values === undefined)
      return { kind: 'text', name, label: kind === 'id' ? `${label}: id` : label }
    return {
      kind: 'choice',
      name,
      label,
      options: values.map((value) => [value, value.replaceAll('_', ' ')]),
    }
  })
}

/** What an address asks for; a choice that is none says nothing. */
export function nounQuery<F extends Filters>(url: URL, filters: F): FilterValues<F> {
  const asked = Object.entries(filters).map(([filter, one]) => {
    const { kind, values = [] } = one
    return [filter, askedBy(url, parameterOf(filter, one), { kind, values })] as const
  })
  return given(Object.fromEntries(asked)) as FilterValues<F>
}

function askedBy(
  url: URL,
  name: string,
  { kind, values = [] }: Pick<NounFilter<unknown>, 'kind' | 'values'>,
): unknown {
  if (kind === 'choice') return chosenOf(url, name, values)
  if (kind === 'id') return chosenId(url, name)
  if (kind === 'payable') return chosenPayable(url)
  if (kind !== 'flag') return chosen(url, name)
  const flag = chosenOf(url, name, ['true', 'false'])
  return flag === undefined ? undefined : flag === 'true'
}

function chosenId(url: URL, name: string): string | undefined {
  const id = chosen(url, name)
  if (id === undefined || readUuid(id) !== undefined) return id
  throw fieldError('query_invalid', name, 'must be a whole id, of 36 characters')
}
