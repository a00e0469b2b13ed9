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
  warnOfShortNames,
} from '../../../src/listeners/listeners.ts'
import { forgetListener, listKnownListeners } from '../../../src/listeners/known-listeners.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'

interface Options {
  readonly queued?: boolean
  readonly superseded?: boolean
}

/** A registry of these, e.g. `mail PaymentFailed PaymentCanceled`. */
function registryOf(...listeners: readonly (readonly [string, Options?])[]) {
  const registry = createListenerRegistry()
  for (const [spelled, { queued = false, superseded = false } = {}] of listeners) {
    const [name = '', ...types] = spelled.split(' ')
    registry.add({ name, types: types as EventType[], queued, superseded, run: () => {} })
  }
  return registry
}

const isRefusedAs = (code: string, message: string) => ({ code, message })

describe('the registry of listeners', () => {
  test('finds those of an event, in the order of their registration', () => {
    const registry = registryOf(
      ['mail PaymentRefunded PaymentFailed'],
      ['ledger PaymentSucceeded'],
      ['shop PaymentFailed', { queued: true }],
    )
    const namesOf = (type: EventType) => registry.of({ type }).map(({ name }) => name)
    assert.deepEqual(namesOf('PaymentFailed'), ['mail', 'shop'])
    assert.deepEqual(namesOf('PaymentSucceeded'), ['ledger'])
    assert.deepEqual(namesOf('PaymentRefunded'), ['mail'])
    assert.deepEqual(namesOf('PaymentCanceled'), [])
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
    const registry = registryOf(['shop PaymentSucceeded'], ['mail PaymentFailed PaymentSucceeded'])
    assert.equal(registry.find('mail', 'PaymentSucceeded')?.name, 'mail')
    assert.equal(registry.find('mail', 'PaymentRefunded'), undefined)
    assert.equal(registry.find('shop', 'PaymentFailed'), undefined)
  })

  test('knows each listener once, and a key for each event that it is registered for', () => {
    const registry = registryOf(
      ['mail PaymentFailed PaymentCanceled', { superseded: true }],
      ['shop PaymentFailed PaymentSucceeded'],
    )
    assert.deepEqual(
      registry.all().map(({ name }) => name),
      ['mail', 'shop'],
    )
    assert.deepEqual(registry.keys(), [
      'mail/PaymentFailed',
      'mail/PaymentFailed:superseded',
      'mail/PaymentCanceled',
      'mail/PaymentCanceled:superseded',
      'shop/PaymentFailed',
      'shop/PaymentSucceeded',
    ])
  })

  test('refuses a name twice, whatever its listeners listen to', () => {
    const refusal = isRefusedAs(
      'listener_duplicate',
      'two listeners have the name mail: one of PaymentFailed, PaymentCanceled, one of PaymentSucceeded',
    )
    const both = () =>
      registryOf(
        ['shop PaymentSucceeded'],
        ['mail PaymentFailed PaymentCanceled'],
        ['mail PaymentSucceeded', { queued: true }],
      )
    assert.throws(both, refusal)
  })

  test('warns of names of one or two letters', () => {
    const { log, lines } = capturedLog()
    warnOfShortNames(
      registryOf(['o PaymentFailed'], ['ab PaymentFailed'], ['abc PaymentFailed']),
      log,
    )
    assert.deepEqual(
      lines.map(({ level, listener }) => [level, listener]),
      [
        [40, 'o'],
        [40, 'ab'],
      ],
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
            ['ledger PaymentFailed PaymentSucceeded', { superseded: true }],
          ),
        )
        assert.deepEqual(await known(db), [
          {
            name: 'ledger',
            event_types: [
              'PaymentFailed',
              'PaymentFailed:superseded',
              'PaymentSucceeded',
              'PaymentSucceeded:superseded',
            ],
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
        const newer = registryOf(['mail PaymentSucceeded PaymentFailed', { queued: true }])
        await registerListeners(db, newer)
        const both = { name: 'mail', event_types: ['PaymentSucceeded', 'PaymentFailed'] }
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
          ['mail PaymentFailed PaymentSucceeded', { superseded: true }],
        )
        await registerListeners(db, all)
        await requireAllListeners(db, all)
        const names =
          'mail (PaymentFailed:superseded), mail (PaymentSucceeded), ' +
          'mail (PaymentSucceeded:superseded), shop (PaymentFailed)'
        const refusal = isRefusedAs(
          'listener_missing',
          `this process lacks the listener(s) ${names}: events that it claims would never reach them`,
        )
        const fewer = registryOf(['mail PaymentFailed'])
        await assert.rejects(requireAllListeners(db, fewer), refusal)
        // A command beside an app needs its listeners: to forget them would lose events.
        await assert.rejects(requireAllListeners(db, fewer), { fix: /quittance\.config\.ts/ })
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
            eventTypes: ['PaymentFailed', 'PaymentFailed:superseded'],
            queued: false,
            present: false,
          },
          { name: 'shop', eventTypes: ['PaymentFailed'], queued: true, present: true },
        ])
      }),
    )

    test(
      'of subscriptions are shown to people by the events that they listen to, and nothing else',
      rolled(async (db) => {
        await registerListeners(db, registryOf(['mail TrialEnded SubscriptionResumed']))
        const [mail] = await listKnownListeners(db, registryOf())
        assert.deepEqual(mail?.eventTypes.toSorted(), ['SubscriptionResumed', 'TrialEnded'])
        await assert.rejects(
          requireAllListeners(db, registryOf()),
          /the listener\(s\) mail \(SubscriptionResumed\), mail \(TrialEnded\): events/,
        )
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
