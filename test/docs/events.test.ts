import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { eventTypes, type BillingEvent, type EventType } from '../../src/events/catalogue.ts'
import { hasFields } from '../../src/kernel/has-fields.ts'
import { read } from '../tidy/source-files.ts'
import { firedEvents } from './fired-events.ts'
import { codeIn, section, tableRows } from './markdown.ts'

const page = read('docs/events.md')
const head: ReadonlySet<string> = new Set(['id', 'type', 'dedupKey', 'createdAt', 'superseded'])

/** What a column of a table says of each event, as it stands in code marks. */
function saidOf(table: string, column: number): ReadonlyMap<string, readonly string[]> {
  const [, ...rows] = tableRows(table)
  return new Map(rows.map((row) => [codeIn(row[0] ?? '')[0] ?? '', codeIn(row[column] ?? '')]))
}

const [, afterIntroduction = ''] = page.split('It also carries:')
const carried = saidOf(afterIntroduction.split('\n## ')[0] ?? '', 2)
const keys = saidOf(section(page, 'Dedup keys'), 1)

let fired: readonly BillingEvent[]
before(async () => {
  fired = await firedEvents()
})
const firedOf = (type: EventType) => fired.filter((event) => event.type === type)

test('events of every type were fired, and the page has its data and its key', () => {
  const types = new Set(fired.map(({ type }) => type))
  assert.deepEqual(
    eventTypes.filter((type) => !types.has(type)),
    [],
  )
  assert.deepEqual([...keys.keys()], eventTypes)
})

test('the page says of every event by what it is fired, and when', () => {
  const rows = tableRows(afterIntroduction.split('\n## ')[0] ?? '').slice(1)
  const said = rows.map(([event = '', when, , by]) => [codeIn(event)[0], when !== '', by])
  assert.deepEqual(
    said,
    eventTypes.map((type) => [type, true, firedBy(type)]),
  )
})

/** By what an event says of itself: a document, a subscription, a browser; else by an outcome. */
function firedBy(type: EventType): string {
  const [event] = firedOf(type)
  assert.ok(event)
  if ('invoice' in event) return 'a document'
  if ('endpoint' in event) return 'an endpoint'
  if ('subscription' in event) return 'a subscription'
  return /^(?:checkout|payment_link):/.test(event.dedupKey) ? 'a browser' : 'an outcome'
}

test('an event carries what the page says, and nothing else', () => {
  for (const type of eventTypes) {
    for (const event of firedOf(type)) {
      const fields = Object.keys(event).filter((field) => !head.has(field))
      assert.deepEqual(fields.toSorted(), [...(carried.get(type) ?? [])].toSorted(), type)
    }
  }
})

test('the key of an event is of a form that the page gives, made of the ids that it names', () => {
  for (const event of fired) {
    const forms = keys.get(event.type) ?? []
    assert.ok(
      forms.some((form) => isOfForm(event, form)),
      `${event.dedupKey} is none of ${forms.join(', ')}`,
    )
  }
})

test('every form of a key that the page gives is one under which an event has fired', () => {
  for (const type of eventTypes) {
    for (const form of keys.get(type) ?? []) {
      assert.ok(
        firedOf(type).some((event) => isOfForm(event, form)),
        `no ${type} has fired under ${form}`,
      )
    }
  }
})

function literally(text: string): string {
  return text.replaceAll(/\W/g, String.raw`\$&`)
}

function isOfForm(event: BillingEvent, form: string): boolean {
  const pattern = form
    .split(/(<[^>]+>)/)
    .map((part) => (part.startsWith('<') ? partOf(event, part.slice(1, -1)) : literally(part)))
    .join('')
  return new RegExp(`^${pattern}$`).test(event.dedupKey)
}

/** What stands for a name in angle brackets: the id of what the event carries, or any number. */
function partOf(event: BillingEvent, name: string): string {
  const [subject = '', field = 'id'] = placeholders[name] ?? []
  if (subject === '') {
    assert.match(name, /^(?:number|time|percent)/, `${name} means nothing to this test`)
    return String.raw`\d+`
  }
  const carriedSubject: unknown = Reflect.get(event, subject)
  const value: unknown =
    hasFields(carriedSubject) && field in carriedSubject
      ? Reflect.get(carriedSubject, field)
      : carriedSubject
  if (value instanceof Date) return literally(value.toISOString())
  return typeof value === 'string' ? literally(value) : '(?!)'
}

/** By the name in the page: what of the event it is. */
const placeholders: Readonly<Record<string, readonly [subject: string, field?: string]>> = {
  payment: ['payment'],
  refund: ['payment'],
  gateway: ['paymentMethod', 'gateway'],
  account: ['paymentMethod', 'merchantAccount'],
  card: ['paymentMethod', 'providerReference'],
  dispute: ['dispute'],
  subscription: ['subscription'],
  period: ['period'],
  quota: ['quota'],
  invoice: ['invoice'],
  endpoint: ['endpoint'],
  'time it was disabled': ['disabledAt'],
}
