import { subscriptionContext } from '../support/subscription-context.ts'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { sql, type Kysely } from 'kysely'
import { readStored } from '../../src/gateways/body/read-stored.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import { readCredentials } from '../../src/gateways/credentials.ts'
import type { Tables } from '../../src/database/tables.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { applyOutcomes } from '../../src/outcomes/apply-outcomes.ts'
import { codeIn, section, tableRows } from '../docs/markdown.ts'
import { gatewayOf, settingsOf, signing } from '../spec/callbacks.ts'
import { newPayment, openBilling, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { pathsOf, type WrittenFields, type Writer } from '../support/written-fields.ts'

// What each gateway says of who can write the fields of its reports, and what must follow from it:
// nothing that somebody else than the provider and our server can write touches the payment of
// another, or keeps a payer's own from being paid.

const words: ReadonlyMap<string, Writer> = new Map<string, Writer>([
  ['the provider alone', 'provider'],
  ['your server, with a key', 'server'],
  ['the page, so the payer too', 'page'],
  ['the payer', 'payer'],
  ['anybody', 'anybody'],
])

/** The table in the README of a gateway. */
function fieldsOf(name: string): WrittenFields {
  const readme = new URL(`../../src/gateways/${name}/README.md`, import.meta.url)
  const [, ...rows] = tableRows(section(readFileSync(readme, 'utf8'), 'Who writes what'))
  const fields = rows.flatMap(([said = '', names = '']) => {
    const writer = words.get(said)
    assert.ok(writer, `${name}: ${said} is no writer`)
    return codeIn(names).map((field) => [field, writer] as const)
  })
  assert.equal(new Set(fields.map(([field]) => field)).size, fields.length, name)
  return Object.fromEntries(fields)
}

for (const { name } of builtin) {
  test(`${name}: its README says who writes what, field by field`, () => {
    assert.ok(Object.keys(fieldsOf(name)).length > 1)
  })
}

/** The provider's id of a checkout, where payments are bound by one. */
const checkoutIds: Readonly<Record<string, (id: string) => string>> = {
  stripe: (id) => `cs_${plain(id)}`,
  paddle: (id) => `txn_${plain(id).slice(0, 26)}`,
  monobank: (id) => `p2_${plain(id)}`,
}
const plain = (id: string) => id.replaceAll('-', '')

/** Each costs a transaction of several statements. */
const numRuns = 40

/** What the payer's transaction comes to, in the words of the gateways' own test callbacks. */
const ends = ['paid', 'declined', 'expired', 'canceled', 'async_failed', 'renewed']

/** The payer's own payment, and those of others. */
interface Population {
  readonly own: Payment
  readonly others: readonly Payment[]
}

/** One report: what it says, and what it holds in each field that others can write. */
interface Report {
  readonly scenario: string
  readonly written: readonly (readonly [string, unknown])[]
}

function texts(ids: readonly string[]): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...ids) },
    fc.constantFrom(newUuid(), '', 'order 7', undefined, null),
    fc.string({ maxLength: 20 }),
  )
}

/** A page can put any JSON where the provider takes an object; a form takes texts. */
function valuesOf(path: string, ids: readonly string[]): fc.Arbitrary<unknown> {
  const text = texts(ids)
  if (!path.endsWith('custom_data')) return text
  const object = fc.record({ payment_id: fc.oneof(text, fc.jsonValue()) })
  return fc.oneof({ weight: 4, arbitrary: object }, fc.jsonValue(), fc.constant(undefined))
}

function reportsOf(
  name: string,
  { paths, told }: { readonly paths: readonly string[]; readonly told: readonly string[] },
  { own, others }: Population,
): fc.Arbitrary<readonly Report[]> {
  const scenarios = Object.keys(gatewayOf(name).signer?.scenarios ?? {})
  const ids = [own, ...others].map(({ id }) => id)
  const written = fc.tuple(
    ...paths.map((path) => valuesOf(path, ids).map((value) => [path, value] as const)),
  )
  const scenario = fc.constantFrom(...scenarios.filter((one) => told.includes(one)))
  return fc.array(fc.record({ scenario, written }), {
    minLength: 1,
    maxLength: 4,
  })
}

/** The report with these fields. */
function written(text: string, fields: Report['written']): string {
  const body = JSON.parse(text) as Record<string, unknown>
  for (const [path, value] of fields) {
    const keys = path.split('.')
    const last = keys.pop() ?? ''
    const holder = keys.reduce<unknown>(
      (object, key) => (object as Record<string, unknown> | undefined)?.[key],
      body,
    ) as Record<string, unknown> | undefined
    if (holder === undefined) continue
    if (value === undefined) delete holder[last]
    else holder[last] = value
  }
  return JSON.stringify(body)
}

/** Without the key of the API: what nobody can be asked for is left out. */
function credentialsOf({ name, apiCredential, ...gateway }: Gateway) {
  const settings = Object.entries(settingsOf()[name] ?? {})
  const config = Object.fromEntries(settings.filter(([field]) => field !== apiCredential))
  return readCredentials({ name, ...gateway }, {}, { production: false, config })
}

// All reports tell of one moment, so that two about a payment are the same.
const startedAt = new Date()

/** What a test callback about the payment holds, as it is stored. */
function textAbout(payment: Payment, scenario: string): string {
  const gateway = gatewayOf(payment.gateway)
  const config = settingsOf()[payment.gateway] ?? {}
  const signed = gateway.signer?.sign({
    scenario,
    credentials: readCredentials(gateway, {}, { production: false, config }),
    now: startedAt,
    newId: newUuid,
    payment,
  })
  assert.ok(signed)
  const payload = gateway.parse({ headers: signed.headers, body: Buffer.from(signed.body) })
  assert.ok(payload.kind === 'json')
  return payload.text
}

async function interpret(name: string, text: string): Promise<readonly Outcome[]> {
  const gateway = gatewayOf(name)
  return gateway.interpret(readStored('json', text), {
    credentials: credentialsOf(gateway),
    log: silentLog,
    signal: AbortSignal.timeout(60_000),
  })
}

onAnyDatabase((engine) => {
  describe('whatever a payer writes', () => {
    let billing: TestBilling
    before(async () => {
      billing = await openBilling(engine, { gateways: settingsOf() })
    })
    after(() => billing.close())

    const create = (gateway: string, isBound: boolean, amount = 4999) => {
      const id = newUuid()
      const checkoutReference = isBound ? checkoutIds[gateway]?.(id) : undefined
      return newPayment(billing.core, {
        gateway,
        id,
        amount,
        currency: 'UAH',
        payable: { type: 'order', id },
        ...(checkoutReference !== undefined && { checkoutReference }),
      })
    }
    const populate = async (gateway: string): Promise<Population> => ({
      own: await create(gateway, true),
      others: [
        await create(gateway, true),
        await create(gateway, false),
        await create(gateway, false, 99_900),
      ],
    })
    /** What the database holds once the reports are applied; then they never were. */
    const afterAll = async (gateway: string, reports: readonly (readonly Outcome[])[]) => {
      const undone = new Error('undone')
      let rows: readonly Row[] = []
      const applied = billing.database.transaction(async ({ db }) => {
        for (const outcomes of reports) {
          const application = { gateway, outcomes, cause: 'call', callId: null } as const
          const { gateways } = billing.runtime.settings
          const applying = { newId: newUuid, cipher: undefined, gateways, ...subscriptionContext }
          await applyOutcomes(db, [application], applying)
        }
        rows = await readRows(db, gateway)
        throw undone
      })
      await assert.rejects(applied, undone)
      return rows
    }

    for (const { name } of signing) {
      test(`${name}: his own payment is paid when the provider says so, and no other is touched`, async () => {
        const population = await populate(name)
        const { own } = population
        const paths = pathsOf(fieldsOf(name), ['page', 'payer'])
        const before = await afterAll(name, [])
        const run = async (reports: readonly Report[]) => {
          const told = reports.map(({ scenario, written: fields }) =>
            interpret(name, written(textAbout(own, scenario), fields)),
          )
          const rows = await afterAll(name, await Promise.all(told))
          const isOwn = (row: Row) => row.payable_id === own.payable.id
          assert.deepEqual(
            rows.filter((row) => !isOwn(row)),
            before.filter((row) => !isOwn(row)),
          )
          const isPaid = reports.some(({ scenario }) => scenario === 'paid')
          const { status } = rows.find(({ id }) => id === own.id) ?? {}
          assert.equal(status === 'paid', isPaid)
        }
        // A subscription that nobody has paid yet is Paddle's below: a transaction that we do not know.
        const told = ends.filter((end) => name !== 'paddle' || end !== 'renewed')
        const reports = reportsOf(name, { paths, told }, population)
        await fc.assert(fc.asyncProperty(reports, run), { numRuns })
      })
    }

    /** A transaction that we know nothing of carries what its payer has written, and no more. */
    const unbound: Readonly<Record<string, Report['written']>> = {
      stripe: [
        ['data.object.metadata', {}],
        ['data.object.parent.subscription_details.metadata', {}],
      ],
      paddle: [],
      monobank: [],
    }
    for (const [name, blank] of Object.entries(unbound)) {
      test(`${name}: a transaction of his own takes nothing, and gives at most its whole price`, async () => {
        const population = await populate(name)
        const paths = pathsOf(fieldsOf(name), ['page', 'payer', 'anybody'])
        assert.ok(paths.length > 0)
        const before = await afterAll(name, [])
        const amounts = fc.constantFrom(4999n, 99_900n, 1n)
        const run = async (reports: readonly Report[], amount: bigint) => {
          const id = newUuid()
          const checkoutReference = checkoutIds[name]?.(id) ?? null
          const payment = { ...population.own, id, checkoutReference, amount }
          const told = reports.map((report) => {
            const fields = [...blank, ...report.written]
            return interpret(name, written(textAbout(payment, report.scenario), fields))
          })
          const rows = await afterAll(name, await Promise.all(told))
          const changed = rows.filter((row) => !before.some((one) => isSame(one, row)))
          for (const row of changed) {
            assert.deepEqual([row.type, row.status, row.amount], ['charge', 'paid', amount])
            assert.equal(before.find((one) => one.id === row.id)?.checkout_reference ?? null, null)
          }
          const given = reports.filter(({ scenario }) => /^(?:paid|renewed)$/.test(scenario))
          assert.ok(changed.length <= given.length)
          if (name === 'monobank') assert.deepEqual(changed, [])
        }
        const reports = reportsOf(name, { paths, told: ends }, population)
        await fc.assert(fc.asyncProperty(reports, amounts, run), { numRuns })
      })
    }
  })
})

interface Row {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly amount: bigint
  readonly payable_id: string
  readonly checkout_reference: string | null
  readonly provider_reference: string | null
  readonly subscription_reference: string | null
}

async function readRows(db: Kysely<Tables>, gateway: string): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
    select id, type, status, amount, payable_id, checkout_reference, provider_reference,
      subscription_reference
    from billing.payments where gateway = ${gateway} order by id`.execute(db)
  return rows
}

const isSame = (one: Row, other: Row) =>
  Object.entries(one).every(([key, value]) => other[key as keyof Row] === value)
