import { InvalidArgumentError, Option, type Command } from 'commander'
import type { BillingCore } from '../billing/types.ts'
import type { Page, PageQuery } from '../database/page.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { kebabCase } from '../kernel/field-names.ts'
import type { Field, Filter, Filters, Noun } from '../kernel/noun.ts'
import { choiceAmong } from '../kernel/similar-name.ts'
import { readUuid } from '../kernel/uuid.ts'
import { print, printFact, printJson, printTable, shortTime } from './output.ts'
import { addPaging } from './paging.ts'
import { readPayable } from './read-payable.ts'

/** Names an option as people do: `--payment` for `paymentId`. */
function optionName(filter: string): string {
  return filter.replace(/Id$/, '')
}

function optionOf(name: string, { kind, values = [], help, placeholder }: Filter<unknown>): Option {
  const flag = kebabCase(optionName(name))
  if (kind === 'flag') return new Option(`--${flag}`, help)
  const forms = {
    id: 'id',
    gateway: 'name',
    payable: 'type:id',
    choice: flag,
    word: flag,
    text: 'text',
    month: 'month',
  }
  const option = new Option(`--${flag} <${placeholder ?? forms[kind]}>`, help)
  if (kind === 'choice') return option.choices(values)
  if (kind === 'word') return option.argParser((text) => readWord(text, { flag, values }))
  if (kind === 'id') return option.argParser(readId)
  return kind === 'payable' ? option.argParser(readPayable) : option
}

interface Words {
  readonly flag: string
  readonly values: readonly string[]
}

function readWord(text: string, { flag, values }: Words): string {
  if (values.includes(text)) return text
  throw new InvalidArgumentError(`There is no such ${flag}${choiceAmong(text, values)}.`)
}

function readId(text: string): string {
  if (readUuid(text) !== undefined) return text
  throw new InvalidArgumentError('It must be a UUID.')
}

/** Options for the pages of a list, and for each of its filters. */
export function addFilters(command: Command, filters: Filters): Command {
  addPaging(command)
  for (const [name, filter] of Object.entries(filters)) {
    const { help, helpNot } = filter
    if (help !== undefined) command.addOption(optionOf(name, filter))
    if (helpNot !== undefined) command.option(`--no-${kebabCase(name)}`, helpNot)
  }
  return command
}

/** `list` of a noun, with an option for each of its filters. */
export function addList(command: Command, filters: Filters): Command {
  return addFilters(command.command('list').description('newest first'), filters)
}

/** The query that the options of a list ask for. */
export async function queryOf<Query extends PageQuery>(
  core: BillingCore,
  command: Command,
  filters: Filters,
): Promise<Query> {
  const given: Readonly<Record<string, unknown>> = command.optsWithGlobals()
  const names = ['limit', 'cursor', ...Object.keys(filters)]
  const asked = names.map((name) => [name, given[optionName(name)]] as const)
  const { knownGateway } = await import('../billing/known-gateway.ts')
  const query = asked.flatMap(([name, value]) => {
    if (value === undefined) return []
    const isGateway = filters[name]?.kind === 'gateway' && typeof value === 'string'
    return [[name, isGateway ? knownGateway(core, value) : value]]
  })
  return Object.fromEntries(query) as Query
}

export function asksJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean }>().json === true
}

/** Prints a page of a list: as JSON, or as a table. */
export async function printPage<Row extends object>(
  page: Page<Row>,
  command: Command,
  noun: Noun<Row>,
): Promise<void> {
  if (asksJson(command)) {
    const { pageView } = await import('../wire/page.ts')
    printJson(pageView(page, noun.view))
    return
  }
  if (page.data.length === 0) {
    print(
      page.nextCursor === null
        ? `No ${noun.plural}.`
        : `None so far. Look further: --cursor ${page.nextCursor}`,
    )
    return
  }
  await printRows(page.data, noun)
  if (page.nextCursor !== null) print(`more: --cursor ${page.nextCursor}`)
}

/** Prints rows of a list as a table. */
export async function printRows<Row extends object>(
  data: readonly Row[],
  noun: Noun<Row>,
): Promise<void> {
  const { labelOf, textOf } = await import('../kernel/noun-text.ts')
  const columns = (names: readonly string[]) => {
    const fields = names.flatMap((name) => {
      const field = noun.facts[name]
      return field === undefined ? [] : [[name, field] as const]
    })
    return {
      headings: fields.map(
        ([name, field]) =>
          `${name === 'id' ? 'id' : labelOf(name, field)}${field.kind === 'time' ? ' (UTC)' : ''}`,
      ),
      rows: data.map((row) =>
        fields.map(([name, field]) => cellOf(textOf(name, field, row), field)),
      ),
    }
  }
  printTable({ ...columns(noun.columns), ...(noun.notes && { notes: columns(noun.notes) }) })
}

/** Prints what is known of one, and `further` facts: as JSON, which has none of these, or a line each. */
export async function printOne<Row extends object>(
  row: Row,
  command: Command,
  {
    further = [],
    ...noun
  }: Noun<Row> & { readonly further?: readonly (readonly [string, string])[] },
): Promise<void> {
  if (asksJson(command)) {
    printJson(noun.view(row))
    return
  }
  const { factsOf, labelOf } = await import('../kernel/noun-text.ts')
  const width = Math.max(...Object.entries(noun.facts).map((fact) => labelOf(...fact).length)) + 2
  for (const [label, text] of [...factsOf(noun.facts, row), ...further]) {
    printFact(label, text, width)
  }
}

/** Minutes are enough for a table. */
function cellOf(text: string | null, { kind }: Field<unknown, unknown>): string {
  return kind === 'time' && text !== null ? shortTime(new Date(text)) : (text ?? '')
}

/** The row, or the error that there is none. */
export function found<Row>(row: Row | undefined, name: string, id: string): Row {
  if (row !== undefined) return row
  const code = `${name.replaceAll(' ', '_')}_not_found`
  throw new QuittanceError(code as never, `there is no ${name} ${JSON.stringify(id)}`)
}
