import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Kysely } from 'kysely'
import type { Tables } from '../../../src/database/tables.ts'
import type { EventType } from '../../../src/events/catalogue.ts'
import { QuittanceError } from '../../../src/kernel/errors.ts'
import {
  createListenerRegistry,
  isListenerMissing,
  registerListeners,
  requireAllListeners,
  requireName,
  warnOfNeverCalled,
} from '../../../src/listeners/listeners.ts'
import { forgetListener, listKnownListeners } from '../../../src/listeners/known-listeners.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'

interface Options {
  readonly queued?: boolean
  readonly superseded?: boolean
}

/** A registry of these, e.g. `mail PaymentFailed`. */
function registryOf(...listeners: readonly (readonly [string, Options?])[]) {
  const registry = createListenerRegistry()
  for (const [spelled, { queued = false, superseded = false } = {}] of listeners) {
    const [name = '', type = ''] = spelled.split(' ')
    registry.add({ name, type: type as EventType, queued, superseded, run: () => {} })
  }
  return registry
}

const isRefusedAs = (code: string, message: string) => ({ code, message })

describe('the registry of listeners', () => {
  test('finds those of an event, in the order of their registration', () => {
    const registry = registryOf(
      ['mail PaymentFailed'],
      ['ledger PaymentSucceeded'],
      ['shop PaymentFailed', { queued: true }],
    )
    const namesOf = (type: EventType) => registry.of({ type }).map(({ name }) => name)
    assert.deepEqual(namesOf('PaymentFailed'), ['mail', 'shop'])
    assert.deepEqual(namesOf('PaymentSucceeded'), ['ledger'])
    assert.deepEqual(namesOf('PaymentRefunded'), [])
  })

  test('passes a superseded event on only to those that asked for such', () => {
    const registry = registryOf(
      ['mail PaymentFailed'],
      ['ledger PaymentFailed', { superseded: true }],
    )
    const namesOf = (superseded?: boolean) =>
      registry
        .of({ type: 'PaymentFailed', ...(superseded !== undefined && { superseded }) })
        .map(({ name }) => name)
    assert.deepEqual(namesOf(true), ['ledger'])
    assert.deepEqual(namesOf(false), ['mail', 'ledger'])
    assert.deepEqual(namesOf(), ['mail', 'ledger'])
  })

  test('finds one by its name and event', () => {
    const registry = registryOf(['mail PaymentFailed'], ['mail PaymentSucceeded'])
    assert.equal(registry.find('mail', 'PaymentSucceeded')?.type, 'PaymentSucceeded')
    assert.equal(registry.find('mail', 'PaymentRefunded'), undefined)
    assert.equal(registry.find('shop', 'PaymentFailed'), undefined)
  })

  test('knows each name once, and a key for each event that it is registered for', () => {
    const registry = registryOf(
      ['mail PaymentFailed', { superseded: true }],
      ['shop PaymentFailed'],
      ['mail PaymentSucceeded'],
    )
    assert.deepEqual(registry.names(), ['mail', 'shop'])
    assert.deepEqual(registry.keys(), [
      'mail/PaymentFailed',
      'mail/PaymentFailed:superseded',
      'shop/PaymentFailed',
      'mail/PaymentSucceeded',
    ])
  })

  test('refuses an event that does not exist', () => {
    const refusal = isRefusedAs('event_type_unknown', 'there is no event PaymentLost')
    assert.throws(() => registryOf(['mail PaymentLost']), refusal)
  })

  test('refuses a listener without a name', () => {
    const refusal = isRefusedAs('listener_unnamed', 'a listener of PaymentFailed has no name')
    assert.throws(() => registryOf([' PaymentFailed']), refusal)
    assert.throws(() => requireName({ name: '', type: 'PaymentFailed' }), refusal)
    requireName({ name: 'mail', type: 'PaymentFailed' })
  })

  test('refuses a name twice for one event, and once in the transaction, once queued', () => {
    const refusal = isRefusedAs(
      'listener_duplicate',
      'the name mail is taken by another listener of PaymentFailed',
    )
    assert.throws(() => registryOf(['mail PaymentFailed'], ['mail PaymentFailed']), refusal)
    const both = () =>
      registryOf(['mail PaymentSucceeded', { queued: true }], ['mail PaymentFailed'])
    assert.throws(both, refusal)
    // Another one of the same name that is fine does not hide the clash.
    assert.throws(
      () => registryOf(['mail PaymentSucceeded'], ['mail PaymentFailed'], ['mail PaymentFailed']),
      refusal,
    )
    registryOf(
      ['mail PaymentFailed', { queued: true }],
      ['mail PaymentSucceeded', { queued: true }],
      ['shop PaymentFailed'],
    )
  })

  test('warns of listeners for events that nothing fires yet, and of no others', () => {
    const { log, lines } = capturedLog()
    warnOfNeverCalled(registryOf(['mail InvoiceIssued'], ['mail PaymentFailed']), log)
    assert.deepEqual(
      lines.map(({ level, listener, event, msg }) => [level, listener, event, msg]),
      [[40, 'mail', 'InvoiceIssued', 'a listener waits for an event that nothing fires yet']],
    )
  })

  test('knows its refusal from any other error', () => {
    assert.equal(isListenerMissing(new QuittanceError('listener_missing', 'x')), true)
    assert.equal(isListenerMissing(new QuittanceError('listener_unnamed', 'x')), false)
    assert.equal(
      isListenerMissing(Object.assign(new Error('x'), { code: 'listener_missing' })),
      false,
    )
  })
})

onPostgres((engine) => {
  const rolled = rollingBack(engine)
  const known = (db: Kysely<Tables>) =>
    db
      .selectFrom('billing.listeners')
      .select(['name', 'event_types', 'queued'])
      .orderBy('name')
      .execute()

  describe('listeners of several processes', () => {
    test(
      'are known with their events and their manner',
      rolled(async (db) => {
        await registerListeners(
          db,
          registryOf(
            ['mail PaymentFailed', { queued: true }],
            ['ledger PaymentFailed', { superseded: true }],
            ['ledger PaymentSucceeded'],
          ),
        )
        assert.deepEqual(await known(db), [
          {
            name: 'ledger',
            event_types: ['PaymentSucceeded', 'PaymentFailed', 'PaymentFailed:superseded'],
            queued: false,
          },
          { name: 'mail', event_types: ['PaymentFailed'], queued: true },
        ])
      }),
    )

    test(
      'only ever gain events; their manner is that of the latest',
      rolled(async (db) => {
        await registerListeners(db, registryOf(['mail PaymentSucceeded']))
        const newer = registryOf(
          ['mail PaymentFailed', { queued: true }],
          ['mail PaymentSucceeded', { queued: true }],
        )
        await registerListeners(db, newer)
        const both = { name: 'mail', event_types: ['PaymentFailed', 'PaymentSucceeded'] }
        assert.deepEqual(await known(db), [{ ...both, queued: true }])
        await assert.rejects(registerListeners(db, registryOf(['mail PaymentSucceeded'])), {
          code: 'listener_missing',
        })
        assert.deepEqual(await known(db), [{ ...both, queued: false }])
      }),
    )

    test(
      'are refused where this process lacks one of them, or one of its events',
      rolled(async (db) => {
        const all = registryOf(
          ['shop PaymentFailed'],
          ['mail PaymentSucceeded'],
          ['mail PaymentFailed', { superseded: true }],
        )
        await registerListeners(db, all)
        await requireAllListeners(db, all)
        const names =
          'mail (PaymentFailed:superseded), mail (PaymentSucceeded), shop (PaymentFailed)'
        const refusal = isRefusedAs(
          'listener_missing',
          `this process lacks the listener(s) ${names}: events that it claims would never reach them`,
        )
        const fewer = registryOf(['mail PaymentFailed'])
        await assert.rejects(requireAllListeners(db, fewer), refusal)
        await assert.rejects(registerListeners(db, fewer), refusal)
      }),
    )

    test(
      'none are missing where none are known',
      rolled(async (db) => {
        await requireAllListeners(db, createListenerRegistry())
        await registerListeners(db, createListenerRegistry())
        assert.deepEqual(await known(db), [])
      }),
    )
  })

  describe('known listeners', () => {
    test(
      'are listed by name, each with whether this process has it whole',
      rolled(async (db) => {
        const all = registryOf(
          ['shop PaymentFailed', { queued: true }],
          ['mail PaymentSucceeded'],
          ['mail PaymentFailed', { superseded: true }],
        )
        await registerListeners(db, all)
        const fewer = registryOf(['shop PaymentFailed', { queued: true }], ['mail PaymentFailed'])
        const listed = await listKnownListeners(db, fewer)
        const shown = listed.map(({ registeredAt, ...rest }) => {
          assert.ok(registeredAt instanceof Date)
          return rest
        })
        assert.deepEqual(shown, [
          {
            name: 'mail',
            eventTypes: ['PaymentSucceeded', 'PaymentFailed', 'PaymentFailed:superseded'],
            queued: false,
            present: false,
          },
          { name: 'shop', eventTypes: ['PaymentFailed'], queued: true, present: true },
        ])
      }),
    )

    test(
      'are forgotten one at a time',
      rolled(async (db) => {
        await registerListeners(db, registryOf(['mail PaymentFailed'], ['shop PaymentFailed']))
        await forgetListener(db, 'mail')
        assert.deepEqual(
          (await known(db)).map(({ name }) => name),
          ['shop'],
        )
        const refusal = isRefusedAs('listener_not_found', 'no listener is known as "mail"')
        await assert.rejects(forgetListener(db, 'mail'), refusal)
      }),
    )
  })
})
