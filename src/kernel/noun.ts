import { snakeCase, type SnakeCase } from './field-names.ts'
import type { Money } from './money.ts'

/** What a field holds. JSON, people and the OpenAPI document have a form for each kind. */
export type FieldKind =
  | 'id'
  | 'text'
  | 'choice'
  | 'count'
  | 'minor_units'
  | 'money'
  | 'time'
  | 'flag'
  | 'object'
  | 'part'
  | 'number'
  | 'list'

/** A fact about a noun. Its doc comment says what it means, in code and in the OpenAPI document. */
export interface Field<Value, Json = Value> extends About<Value> {
  readonly kind: FieldKind
  readonly isNullable?: boolean
  /** It is left out where nothing is known. */
  readonly isOptional?: boolean
  /** Of a choice: all values. */
  readonly values?: readonly string[]
  /** Of a count: what it is at least. */
  readonly least?: number
  /** Of a text: what all of it matches. */
  readonly pattern?: RegExp
  /** Of a part. */
  readonly fields?: Fields
  /** Of a list: what each of it is. */
  readonly item?: Field<unknown, unknown>
  /** Of a derived fact: what JSON has of the row. */
  derive?(row: Value): Json
}

interface About<Value> {
  /** What people read beside the fact; by default the name in words. */
  readonly label?: string
  /** The noun that an id or a name leads to: `payment`. */
  readonly of?: string
  /** The fact on one line, where its kind does not say how. */
  toText?(value: Exclude<Value, null | undefined>): string | null
}

/** The fields of a noun, in the order in which every surface has them. */
export type Fields = Readonly<Record<string, Field<unknown, unknown>>>

/** A noun as the library gives it. */
export type Values<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer Value, infer _> ? Value : never
}

/** The same in JSON: names in snake_case, times in ISO 8601 UTC, amounts as numbers. */
export type JsonValues<F extends Fields> = {
  readonly [Name in keyof F & string as SnakeCase<Name>]: F[Name] extends Field<infer _, infer Json>
    ? Json
    : never
}

type JsonOf<F> = F extends Field<infer _, infer Json> ? Json : never

/** A UUID in lower case. Callers choose ids too, so it may be of any version. */
export function id(of: string, about: About<string> = {}): Field<string> {
  return { kind: 'id', of, ...about }
}

export function text(about: About<string> = {}): Field<string> {
  return { kind: 'text', ...about }
}

/** A text of which the whole matches. */
export function matching(pattern: RegExp, about: About<string> = {}): Field<string> {
  return { kind: 'text', pattern, ...about }
}

export function choice<Choice extends string>(
  values: readonly Choice[],
  about: About<Choice> = {},
): Field<Choice> {
  return { kind: 'choice', values, ...about }
}

/** A whole number, not negative. The document of the API says what it is at least, where that is given. */
export function count(about: About<number> & Pick<Field<number>, 'least'> = {}): Field<number> {
  return { kind: 'count', ...about }
}

export function flag(about: About<boolean> = {}): Field<boolean> {
  return { kind: 'flag', ...about }
}

/** Exact in JSON: no amount above Number.MAX_SAFE_INTEGER is ever accepted. */
export function minorUnits(about: About<bigint> = {}): Field<bigint, number> {
  return { kind: 'minor_units', ...about }
}

/** How much of something that is no money; exact in JSON, too. */
export function units(about: About<bigint> = {}): Field<bigint, number> {
  return minorUnits(about)
}

/** ISO 8601 in UTC, to the millisecond. */
export function time(about: About<Date> = {}): Field<Date, string> {
  return { kind: 'time', ...about }
}

/** A number that need not be whole. */
export function number(about: About<number> = {}): Field<number> {
  return { kind: 'number', ...about }
}

/** Whether it is about real money; null: its provider does not say. */
export function mode(): Field<boolean | null> {
  return orNull(flag({ label: 'mode', toText: (live) => (live ? 'live' : 'test') }))
}

/** An object as it was given, such as one of the merchant's: JSON has it as it is. */
export function object<Value = Readonly<Record<string, unknown>>>(
  about: About<Value> = {},
): Field<Value> {
  return { kind: 'object', ...about }
}

/** Any number of the same. */
export function listOf<Value, Json>(
  item: Field<Value, Json>,
  about: About<readonly Value[]> = {},
): Field<readonly Value[], readonly Json[]> {
  return { kind: 'list', item, ...about }
}

/** Fields that belong together. */
export function part<F extends Fields>(
  fields: F,
  about: About<Values<F>> = {},
): Field<Values<F>, JsonValues<F>> {
  return { kind: 'part', fields, ...about }
}

/** Fields that belong together, of which some are optional. */
export function partial<F extends Fields, Value extends Partial<Values<F>>>(
  fields: F,
  about: About<Value>,
): Field<Value, Partial<JsonValues<F>>> {
  return { kind: 'part', fields, ...about }
}

export const payableFields = { type: text(), id: text() }

/** The merchant's own object that is paid for. */
export function payable(): Field<Values<typeof payableFields>, JsonValues<typeof payableFields>> {
  return part(payableFields, { of: 'payable', toText: ({ type, id: own }) => `${type}:${own}` })
}

const moneyFields = { amount: minorUnits(), currency: text() }

export function money(about: About<Money> = {}): Field<Money, JsonValues<typeof moneyFields>> {
  return { kind: 'money', fields: moneyFields, ...about }
}

export function orNull<Value, Json>(field: Field<Value, Json>): Field<Value | null, Json | null> {
  return { ...field, isNullable: true }
}

export function optional<Value, Json>(
  field: Field<Value, Json>,
): Field<Value | undefined, Json | undefined> {
  return { ...field, isOptional: true }
}

/**
 * A fact in words that people have, and JSON where a view has it, but not the library: it is made
 * of the whole row. Null: there is nothing to say.
 */
export function inWords<Row, Text extends string | null = string>(
  derive: (row: Row) => Text,
  about: About<Row> = {},
): Field<Row, Text> {
  return { kind: 'text', derive, ...about }
}

/** The fields of a part, as JSON has them beside the fields of the row. Null: the part leaves it out. */
export function fieldsOf<F extends Fields>(
  part: string,
  fields: F,
): { readonly [Name in keyof F]: Field<never, JsonOf<F[Name]> | null> } {
  const own = Object.entries(fields).map(([name, field]) => {
    const read = readerOf(name, field)
    const derive = (row: object) => {
      const values = (row as Row)[part] as Row
      return (read === undefined ? values[name] : read(values)) ?? null
    }
    return [name, { ...field, derive, isNullable: true }]
  })
  return Object.fromEntries(own) as never
}

/** A fact that JSON has in a form of its own: it is made of the whole row. */
export function derived<Row, Json>(
  field: Field<unknown, Json>,
  derive: (row: Row) => Json,
  toText?: (row: Row) => string,
): Field<Row, Json> {
  return { ...field, derive, ...(toText && { toText }) }
}

/** Writes a row as JSON. Every event that goes out passes here: most of its fields are only copied. */
export function viewOf<F extends Fields>(fields: F): (row: object) => JsonValues<F> {
  const writers = Object.entries(fields).map(([name, field]) => {
    return { name, key: snakeCase(name), read: readerOf(name, field) }
  })
  return (row) => {
    const json: Record<string, unknown> = {}
    for (const { name, key, read } of writers) {
      const value = read === undefined ? (row as Row)[name] : read(row as Row)
      // What an optional field leaves out, JSON leaves out.
      if (value !== undefined) json[key] = value
    }
    return json as JsonValues<F>
  }
}

/** What a row says in these fields, and nothing else of it. */
export function valuesOf<F extends Fields>(fields: F, row: Values<F>): Values<F> {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, row[name]])) as Values<F>
}

type Row = Readonly<Record<string, unknown>>

/** Undefined: JSON has the value as it is. */
function readerOf(
  name: string,
  field: Field<unknown, unknown>,
): ((row: Row) => unknown) | undefined {
  if (field.derive !== undefined) return (row) => field.derive?.(row)
  const write = writerOf(field)
  return (
    write &&
    ((row) => (row[name] === null || row[name] === undefined ? row[name] : write(row[name])))
  )
}

/** How JSON has a value; undefined: as it is. */
function writerOf(field: Field<unknown, unknown>): ((value: unknown) => unknown) | undefined {
  if (field.kind === 'time') return (at) => (at as Date).toISOString()
  if (field.kind === 'minor_units') return Number
  if (field.fields !== undefined) return viewOf(field.fields) as (value: unknown) => unknown
  const write = field.item && writerOf(field.item)
  return write && ((list) => (list as readonly unknown[]).map(write))
}

/** What narrows a list. The library, the API, the commands and the console have each of them. */
export interface Filter<Value> {
  readonly kind: 'choice' | 'word' | 'gateway' | 'id' | 'text' | 'payable' | 'flag' | 'month'
  /** All that may be chosen. */
  readonly values?: readonly string[]
  /** Only for its type. */
  readonly value?: Value
  /** What a command says of its option; without it, commands have none. */
  readonly help?: string | undefined
  /** What stands in the brackets of the option. */
  readonly placeholder?: string
  /** Of a flag: what a command says of the option that asks for the others. */
  readonly helpNot?: string
  /** What a form calls it, in words and in the address; by default both follow its name. */
  readonly label?: string
  readonly parameter?: string
  /** Of a text in the API: how many characters it may have. */
  readonly most?: number
}

export type Filters = Readonly<Record<string, Filter<unknown>>>

export type FilterValues<F extends Filters> = {
  readonly [Name in keyof F]?: F[Name] extends Filter<infer Value> ? Value : never
}

export const byGateway: Filter<string> = { kind: 'gateway', help: 'only of this gateway' }

export function byChoice<Choice extends string>(
  values: readonly Choice[],
  help = 'only these',
): Filter<Choice> {
  return { kind: 'choice', values, help }
}

/** Of too many to name: the library takes any, since a later version may know more. */
export function byWord(values: readonly string[], help: string): Filter<string> {
  return { kind: 'word', values, help }
}

export function byId(noun: string, help = `only of this ${noun}`): Filter<string> {
  return { kind: 'id', help }
}

export function byText(
  help?: string,
  about: Pick<Filter<string>, 'placeholder' | 'label' | 'most'> = {},
): Filter<string> {
  return { kind: 'text', help, ...about }
}

/** The merchant's own object that is paid for. */
export function byPayable(help: string): Filter<Values<typeof payableFields>> {
  return { kind: 'payable', help }
}

export function byFlag(
  help: string,
  about: Pick<Filter<boolean>, 'helpNot' | 'label' | 'parameter'> = {},
): Filter<boolean> {
  return { kind: 'flag', help, ...about }
}

export function byMonth(help: string): Filter<string> {
  return { kind: 'month', help, label: 'month, like 2026-11' }
}

/** What a surface needs to show a noun: one, or a list of them. */
export interface Noun<Of> {
  /** `reviews` */
  readonly plural: string
  readonly facts: Fields
  readonly filters: Filters
  /** The facts that are the columns of a list. */
  readonly columns: readonly string[]
  /** Further columns, which have to be read whole. */
  readonly notes?: readonly string[]
  /** In JSON. */
  readonly view: (row: Of) => object
}
