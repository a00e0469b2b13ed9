import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createBilling, sharedBilling, type Billing, type ListenersOption } from 'quittance'
import { until } from '../support/billing.ts'
import { postgres, type TestDatabase } from '../support/databases.ts'

let database: TestDatabase
before(async () => {
  database = await postgres.create()
})
after(() => database.drop())

const heard: string[] = []

/** As in a module that is loaded again: the same names, other functions. */
function listenersOf(version: string): ListenersOption {
  return {
    grantAccess: { on: 'PaymentSucceeded', run: () => heard.push(`granted by ${version}`) },
    mail: { on: ['PaymentSucceeded'], queued: true, run: () => heard.push(`mailed by ${version}`) },
  }
}

const open = (listeners: ListenersOption): Billing =>
  sharedBilling({ database: { url: database.url }, listeners })

async function pay(billing: Billing): Promise<void> {
  const { id } = await billing.payments.create({
    gateway: 'fake',
    amount: 1999,
    currency: 'USD',
    payable: { type: 'order', id: '42' },
  })
  const url = billing.url('billing.webhook', { gateway: 'fake' })
  const body = JSON.stringify({ payment_id: id, result: 'success' })
  const headers = { 'content-type': 'application/json' }
  await billing.fetch(new Request(url, { method: 'POST', headers, body }))
}

test('a process has one shared billing, which runs the listeners of the last call', async () => {
  const billing = open(listenersOf('first'))
  assert.equal(open(listenersOf('first')), billing)
  assert.notEqual(createBilling(), billing)
  await billing.work()
  await pay(billing)
  await until(async () => heard.length === 2, { what: 'both heard of it' })

  assert.equal(open(listenersOf('second')), billing)
  await pay(billing)
  await until(async () => heard.length === 4, { what: 'both heard of the other' })
  assert.deepEqual(heard, [
    'granted by first',
    'mailed by first',
    'granted by second',
    'mailed by second',
  ])

  const { grantAccess, mail } = listenersOf('third') as Record<'grantAccess' | 'mail', never>
  const run = () => undefined
  for (const [listeners, name] of [
    [{ grantAccess }, 'mail'],
    [{ grantAccess, mail, report: { on: 'PaymentFailed', run } }, 'report'],
    [{ grantAccess, mail: { on: 'PaymentSucceeded', run } }, 'mail'],
    [{ mail, grantAccess: { on: ['PaymentSucceeded', 'PaymentFailed'], run } }, 'grantAccess'],
    [{ mail, grantAccess: { on: 'PaymentSucceeded', superseded: true, run } }, 'grantAccess'],
  ] as const) {
    const refusal = {
      code: 'listener_too_late',
      message: new RegExp(`^listener ${name} was added`),
    }
    assert.throws(() => open(listeners), refusal)
  }
  await pay(billing)
  await until(async () => heard.length === 6, { what: 'those of before heard of the third' })
  assert.deepEqual(heard.slice(4), ['granted by second', 'mailed by second'])

  await billing.close()
  const other = open(listenersOf('fourth'))
  assert.notEqual(other, billing)
  // Closed again, it is no longer the shared one, and takes nothing away.
  await billing.close()
  assert.equal(open(listenersOf('fourth')), other)
  await other.close()
})
