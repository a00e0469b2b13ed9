import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import { findFirstPayment, type RenewalOutcome } from '../../../src/outcomes/find-first-payment.ts'
import { listPayments } from '../../../src/database/list-payments.ts'
import {
  findSubscriptionReference,
  keepSubscriptionReference,
} from '../../../src/database/subscription-references.ts'
import type { Tables } from '../../../src/database/tables.ts'
import type { RegisteredGateway } from '../../../src/gateways/registry.ts'
import type { PaymentOutcome } from '../../../src/payments/outcome.ts'
import type { Payment } from '../../../src/payments/payment.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { stating } from '../../support/stating-gateway.ts'
import {
  apply,
  applyAll,
  charge,
  counting,
  historyOf,
  idOf,
  rowOf,
  standing,
  stated,
  type Brief,
} from './room.ts'

/** A further charge, `pi_2`, of what began with `a`. */
const renewal = (
  status: PaymentOutcome['status'] = 'paid',
  fields: Partial<PaymentOutcome> = {},
): PaymentOutcome =>
  stated(status, {
    payment: { providerReference: 'pi_2' },
    amount: 4999n,
    currency: 'USD',
    renews: { id: idOf('a') },
    ...fields,
  })

const claim = (status: 'paid' | 'failed', also: Brief = {}): Brief => ({
  type: `payment:${status}`,
  claims: status === 'paid' ? 'PaymentSucceeded' : 'PaymentFailed',
  key: `payment:${status}:new`,
  about: `new ${status} pi_2`,
  of: `new ${status} pi_2`,
  ...also,
})
const ignored = (reason: string, also: Brief = {}): Brief => ({ type: 'payment', reason, ...also })
const forReview = { review: true }
const ofFirst = { of: 'a paid' }

const begun = async (db: Kysely<Tables>, fields: Partial<Payment> & { subscription?: string }) => {
  const { subscription, ...columns } = fields
  const first = await charge(db, 'a', { status: 'paid', ...columns })
  if (subscription !== undefined) await keepSubscriptionReference(db, first.id, subscription)
  return first
}
/** The payments that the room has made, by their references. */
const made = async (db: Kysely<Tables>): Promise<readonly Payment[]> => {
  const { data } = await listPayments(db, {})
  return data.filter(({ id }) => id.startsWith('0')).toSorted(byReference)
}
const byReference = (a: Payment, b: Payment) => (standing(a) < standing(b) ? -1 : 1)

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  test(
    'a further charge has a payment made: the first one’s payable, the money and the id of its own',
    rolledBack(async (db) => {
      const first = await begun(db, {
        merchantAccount: 'ours',
        live: true,
        description: 'Monthly',
        payable: { type: 'plan', id: '7' },
        checkoutReference: 'cs_1',
        providerReference: 'pi_1',
      })
      const money = { amount: 5999n, currency: 'EUR', merchantAccount: 'ours', live: true }
      const differs = { ...forReview, detail: 'renewal_money_differs' }
      assert.deepEqual(await apply(db, [renewal('paid', money)]), [claim('paid', differs)])
      const [payment, ...others] = await made(db)
      assert.ok(payment)
      assert.deepEqual(others, [])
      const { gateway, merchantAccount, live, description, payable } = first
      assert.partialDeepStrictEqual(payment, {
        gateway,
        merchantAccount,
        live,
        description,
        payable,
        status: 'paid',
        amount: 5999n,
        currency: 'EUR',
        checkoutReference: null,
        providerReference: 'pi_2',
        handedAt: null,
      })
      assert.deepEqual(await historyOf(db, payment.id), ['pending > paid by call f'])
      assert.deepEqual(await rowOf(db, 'a'), first)
    }),
  )

  test(
    'every later report finds that payment by the id of the charge, and moves it alone',
    rolledBack(async (db) => {
      await begun(db, {})
      assert.deepEqual(await apply(db, [renewal('failed')]), [claim('failed')])
      assert.deepEqual(await apply(db, [renewal()]), [claim('paid')])
      assert.deepEqual(await apply(db, [renewal()]), [claim('paid')])
      assert.deepEqual((await made(db)).map(standing), ['new paid pi_2'])
      assert.equal(standing(await rowOf(db, 'a')), 'a paid')
    }),
  )

  test(
    'a charge that is known by its checkout has that id',
    rolledBack(async (db) => {
      await begun(db, {})
      const [one] = await apply(db, [renewal('paid', { payment: { checkoutReference: 'cs_2' } })])
      assert.equal(one?.['of'], 'new paid cs_2')
    }),
  )

  test(
    'a reference of an untyped gateway gives a payment its ids, and no other field',
    rolledBack(async (db) => {
      const first = await begun(db, {})
      const payable = { type: 'order', id: 'x' }
      const fields = { status: 'paid', amount: 1n, payable, gateway: 'y', saveCard: true }
      const ids = { checkoutReference: 'cs_2', providerReference: 'pi_2' }
      const payment = { ...ids, ...fields, isHanded: true }
      await apply(db, [renewal('failed', { payment })])
      const [row] = await made(db)
      assert.partialDeepStrictEqual(row, {
        status: 'failed',
        amount: 4999n,
        payable: first.payable,
        gateway: 'x',
        saveCard: false,
        handedAt: null,
        checkoutReference: 'cs_2',
        providerReference: 'pi_2',
      })
    }),
  )

  test(
    'a provider that can be polled for renewals is, unless its callback comes',
    rolledBack(async (db) => {
      await begun(db, {})
      const find = (pollsRenewals: boolean) => (name: string) => {
        const gateway = pollsRenewals ? { ...stating, pollsRenewals } : stating
        return name === 'x' ? ({ gateway, credentials: {} } as RegisteredGateway) : undefined
      }
      await apply(db, [renewal('failed')], { gateways: { find: find(true) } })
      const second = { payment: { providerReference: 'pi_3' } }
      await apply(db, [renewal('failed', second)], { gateways: { find: find(false) } })
      const { rows } = await sql<{ handed: boolean; polled: boolean }>`
        select handed_at is not null as handed, next_poll_at > clock_timestamp() as polled
        from billing.payments where provider_reference like 'pi_%' order by provider_reference
        `.execute(db)
      assert.deepEqual(
        rows.map(({ handed, polled }) => [handed, polled]),
        [
          [true, true],
          [false, null],
        ],
      )
    }),
  )

  test(
    'renewals are made in the order of their ids, whoever says them in what order',
    rolledBack(async (db) => {
      await begun(db, {})
      const references = ['pi_4', 'pi_2', 'pi_3']
      const results = await apply(
        db,
        references.map((providerReference) => renewal('paid', { payment: { providerReference } })),
      )
      assert.deepEqual(
        results.map(({ of }) => of),
        references.map((reference) => `new paid ${reference}`),
      )
      const drawn = (await made(db)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
      assert.deepEqual(
        drawn.map(({ providerReference }) => providerReference),
        ['pi_2', 'pi_3', 'pi_4'],
      )
    }),
  )

  test(
    'of two reports of one charge the first makes its payment, the second finds it',
    rolledBack(async (db) => {
      await begun(db, {})
      const dearer = renewal('paid', { amount: 9999n })
      const reports = [renewal(), dearer].map(
        (outcome) =>
          ({ gateway: 'x', cause: 'call', callId: idOf('f'), outcomes: [outcome] }) as const,
      )
      assert.deepEqual(await applyAll(db, reports), [
        [claim('paid')],
        [ignored('amount_mismatch', { of: 'new paid pi_2', ...forReview })],
      ])
    }),
  )

  for (const [what, fields] of [
    ['the amount', { amount: 1n }],
    ['the currency', { currency: 'EUR' }],
  ] as const) {
    test(
      `where ${what} is another than that of the first payment, the money counts and a person looks`,
      rolledBack(async (db) => {
        await begun(db, {})
        const differs = { ...forReview, detail: 'renewal_money_differs' }
        // Said again it is marked again: the call that is tried once more keeps its mark.
        for (let said = 1; said <= 2; said += 1) {
          assert.deepEqual(await apply(db, [renewal('paid', fields)]), [claim('paid', differs)])
        }
      }),
    )

    test(
      `a decline in ${what} of its own is nothing to look at`,
      rolledBack(async (db) => {
        await begun(db, {})
        assert.deepEqual(await apply(db, [renewal('failed', fields)]), [claim('failed')])
      }),
    )
  }

  for (const status of ['pending', 'failed', 'canceled'] as const) {
    test(
      `a renewal of what is ${status} is for a person, whatever it says`,
      rolledBack(async (db) => {
        await begun(db, { status })
        const unpaid = { ...forReview, detail: 'first_payment_unpaid' }
        assert.deepEqual(await apply(db, [renewal('failed')]), [claim('failed', unpaid)])
        assert.deepEqual(await apply(db, [renewal()]), [claim('paid', unpaid)])
      }),
    )
  }

  test(
    'a first payment that is paid by the same callback counts as paid',
    rolledBack(async (db) => {
      await begun(db, { status: 'pending' })
      const [, one] = await apply(db, [stated('paid'), renewal()])
      assert.deepEqual(one, claim('paid'))
    }),
  )

  test(
    'what is ignored of a renewal is not marked for its first payment',
    rolledBack(async (db) => {
      await begun(db, { status: 'pending' })
      await apply(db, [renewal()])
      const [late] = await apply(db, [renewal('failed')], { callId: idOf('e') })
      assert.deepEqual(late, ignored('already_paid', { of: 'new paid pi_2' }))
    }),
  )

  for (const [what, fields, reason] of [
    ['of another account', { merchantAccount: 'another' }, 'merchant_mismatch'],
    ['without an amount', { amount: undefined }, 'amount_mismatch'],
    ['without a currency', { currency: undefined }, 'amount_mismatch'],
    ['by an id of ours, which it cannot have', { payment: { id: 'order-7' } }, 'amount_mismatch'],
  ] as const) {
    test(
      `a renewal ${what} is not made; money is for a person`,
      rolledBack(async (db) => {
        await begun(db, {})
        const outcome = { ...renewal(), ...fields } as PaymentOutcome
        assert.deepEqual(await apply(db, [outcome, { ...outcome, status: 'failed' }]), [
          ignored(reason, { ...ofFirst, ...forReview }),
          ignored(reason, ofFirst),
        ])
        assert.deepEqual(await made(db), [])
      }),
    )
  }

  test(
    'a renewal whose row cannot be written fails its call',
    rolledBack(async (db) => {
      await begun(db, {})
      await assert.rejects(apply(db, [renewal()], { newId: () => idOf('a') }), {
        message: `renewal of ${idOf('a')} was not written`,
      })
    }),
  )

  const bySubscription = { renews: 'subscription', subscriptionReference: 'sub_1' } as const

  test(
    'the first payment is found by the subscription that it began, before any other name',
    rolledBack(async (db) => {
      await begun(db, { subscription: 'sub_1' })
      await charge(db, 'b', { payable: { type: 'order', id: 'other' } })
      const claimed = { id: idOf('b'), by: 'payer' } as const
      assert.deepEqual(await apply(db, [renewal('paid', { ...bySubscription, claimed })]), [
        claim('paid'),
      ])
      const other = { payment: { providerReference: 'pi_3' }, renews: { id: idOf('b') } }
      const [one] = await apply(db, [renewal('paid', { ...bySubscription, ...other })])
      assert.deepEqual(one?.['review'], undefined)
      const payables = (await made(db)).map(({ payable }) => payable.id)
      assert.deepEqual(payables, ['1', '1'])
    }),
  )

  test(
    'a subscription is one of its account; where only another account has it, that is said',
    rolledBack(async (db) => {
      await begun(db, { subscription: 'sub_1', merchantAccount: 'theirs' })
      assert.deepEqual(await apply(db, [renewal('paid', bySubscription)]), [
        ignored('merchant_mismatch', { ...ofFirst, ...forReview }),
      ])
      await charge(db, 'b', { status: 'paid', payable: { type: 'order', id: 'own' } })
      await keepSubscriptionReference(db, idOf('b'), 'sub_1')
      await apply(db, [renewal('paid', bySubscription)])
      assert.deepEqual(
        (await made(db)).map(({ payable }) => payable.id),
        ['own'],
      )
    }),
  )

  for (const [what, fields, awaiting] of [
    ['a subscription', bySubscription, ['subscription:x/sub_1']],
    ['nothing', { renews: 'subscription' }, undefined],
    ['an id', { renews: { id: idOf('a') } }, [`id:${idOf('a')}`]],
    ['a checkout', { renews: { checkoutReference: 'cs_1' } }, ['checkout:x/cs_1']],
    [
      'a charge and its subscription',
      { renews: { providerReference: 'pi_1' }, subscriptionReference: 'sub_1' },
      ['provider:x/pi_1', 'subscription:x/sub_1'],
    ],
  ] as const) {
    test(
      `a renewal of an unknown payment waits for what it names: ${what}`,
      rolledBack(async (db) => {
        await charge(db, 'b', { status: 'paid' })
        assert.deepEqual(await apply(db, [renewal('paid', fields)]), [
          { ...ignored('unknown_payment', { detail: 'paid' }), ...(awaiting && { awaiting }) },
        ])
        assert.deepEqual(await made(db), [])
      }),
    )
  }

  test(
    'a first payment’s id that is none of ours can never be there',
    rolledBack(async (db) => {
      assert.deepEqual(await apply(db, [renewal('paid', { renews: { id: 'order-7' } })]), [
        ignored('invalid_reference'),
      ])
    }),
  )

  for (const reference of [{ checkoutReference: 'cs_1' }, { providerReference: 'pi_1' }]) {
    test(
      `the first payment is found by the provider’s id of it: ${JSON.stringify(reference)}`,
      rolledBack(async (db) => {
        await begun(db, { ...reference, merchantAccount: 'ours' })
        await charge(db, 'b', { ...reference, merchantAccount: 'theirs' })
        const renews = { renews: reference, merchantAccount: 'ours' }
        assert.deepEqual(await apply(db, [renewal('paid', renews)]), [claim('paid')])
      }),
    )
  }

  for (const [known, said, odd] of [
    ['sub_1', 'sub_2', { ...forReview, detail: 'another_subscription' }],
    ['sub_1', undefined, {}],
    [undefined, 'sub_1', {}],
  ] as const) {
    test(
      `what is named began ${known ?? 'no subscription'}, and ${said ?? 'none'} renews it`,
      rolledBack(async (db) => {
        await begun(db, known === undefined ? {} : { subscription: known })
        const fields = said === undefined ? {} : { subscriptionReference: said }
        assert.deepEqual(await apply(db, [renewal('paid', fields)]), [claim('paid', odd)])
        assert.equal(await findSubscriptionReference(db, idOf('a')), known)
      }),
    )
  }

  test(
    'a subscription that becomes known while the renewal looks for it is no other one',
    rolledBack(async (db) => {
      await begun(db, {})
      // The first payment's own report commits once nothing was found by the subscription.
      let answers = 0
      const meanwhile = db.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          answers += 1
          if (answers === 2) await keepSubscriptionReference(db, idOf('a'), 'sub_1')
          return result
        },
      })
      const outcome = renewal('paid', { subscriptionReference: 'sub_1' })
      assert.deepEqual(await apply(meanwhile, [outcome]), [claim('paid')])
    }),
  )

  test(
    'where the subscription is another, so may be the money: the subscription is said',
    rolledBack(async (db) => {
      await begun(db, { subscription: 'sub_1' })
      const fields = { subscriptionReference: 'sub_2', amount: 1n }
      const [one] = await apply(db, [renewal('paid', fields)])
      assert.equal(one?.['detail'], 'another_subscription')
    }),
  )

  const claimed = { id: idOf('a'), by: 'payer' } as const
  const claiming = { ...bySubscription, claimed }

  test(
    'what the payer can have written names the first payment for as much money, and is kept from then on',
    rolledBack(async (db) => {
      await begun(db, {})
      assert.deepEqual(await apply(db, [renewal('paid', claiming)]), [claim('paid')])
      assert.equal(await findSubscriptionReference(db, idOf('a')), 'sub_1')
      // From now on nobody need claim anything.
      const next = { ...bySubscription, payment: { providerReference: 'pi_3' } }
      const [one] = await apply(db, [renewal('paid', next)])
      assert.equal(one?.['of'], 'new paid pi_3')
    }),
  )

  test(
    'a claim of what is not paid makes the renewal, and keeps no subscription',
    rolledBack(async (db) => {
      await begun(db, { status: 'failed' })
      const unpaid = { ...forReview, detail: 'first_payment_unpaid' }
      assert.deepEqual(await apply(db, [renewal('paid', claiming)]), [claim('paid', unpaid)])
      assert.equal(await findSubscriptionReference(db, idOf('a')), undefined)
    }),
  )

  test(
    'a claim without a subscription keeps none',
    rolledBack(async (db) => {
      await begun(db, {})
      const outcome = renewal('paid', { renews: 'subscription', claimed })
      assert.deepEqual(await apply(db, [outcome]), [claim('paid')])
      assert.equal(await findSubscriptionReference(db, idOf('a')), undefined)
    }),
  )

  test(
    'a statement keeps no subscription of its first payment: only what is claimed was not known',
    rolledBack(async (db) => {
      await begun(db, {})
      await apply(db, [renewal('paid', { subscriptionReference: 'sub_1' })])
      assert.equal(await findSubscriptionReference(db, idOf('a')), undefined)
    }),
  )

  for (const [what, fields, reason, also] of [
    [
      'is no id of ours',
      { claimed: { ...claimed, id: 'order-7' } },
      'invalid_reference',
      { detail: 'order-7' },
    ],
    ['pays less', { amount: 4998n }, 'amount_mismatch', ofFirst],
    ['pays in another currency', { currency: 'EUR' }, 'amount_mismatch', ofFirst],
    ['is of another account', { merchantAccount: 'another' }, 'merchant_mismatch', ofFirst],
    [
      'may be anybody’s',
      { claimed: { ...claimed, by: 'anybody' } },
      'unknown_payment',
      { ...ofFirst, detail: 'paid' },
    ],
  ] as const) {
    test(
      `a claim counts for nothing that ${what}: the call waits for the subscription, and a person looks`,
      rolledBack(async (db) => {
        await begun(db, {})
        const outcome = renewal('paid', { ...claiming, ...fields })
        const awaiting = ['subscription:x/sub_1']
        assert.deepEqual(await apply(db, [outcome]), [
          ignored(reason, { ...also, ...forReview, awaiting }),
        ])
        assert.deepEqual(await made(db), [])
        assert.equal(await findSubscriptionReference(db, idOf('a')), undefined)
        const free = await apply(db, [{ ...outcome, amount: 0n }])
        assert.equal(free[0]?.['review'], undefined)
      }),
    )
  }

  test(
    'a decline by a claim takes nothing from anybody',
    rolledBack(async (db) => {
      await begun(db, {})
      assert.deepEqual(await apply(db, [renewal('failed', claiming)]), [
        ignored('unknown_payment', {
          ...ofFirst,
          detail: 'failed',
          awaiting: ['subscription:x/sub_1'],
        }),
      ])
    }),
  )

  test(
    'a claim names no payment that began another subscription',
    rolledBack(async (db) => {
      await begun(db, { subscription: 'sub_2' })
      assert.deepEqual(await apply(db, [renewal('paid', claiming)]), [
        ignored('subscription_mismatch', {
          ...ofFirst,
          ...forReview,
          awaiting: ['subscription:x/sub_1'],
        }),
      ])
    }),
  )

  test(
    'a claim of what is not there yet waits for either',
    rolledBack(async (db) => {
      assert.deepEqual(await apply(db, [renewal('paid', claiming)]), [
        ignored('unknown_payment', {
          detail: 'paid',
          awaiting: [`id:${idOf('a')}`, 'subscription:x/sub_1'],
        }),
      ])
    }),
  )

  test(
    'where the provider knows more and did not answer, the call is tried again; not where it is known',
    rolledBack(async (db) => {
      const unanswered = new Error('provider is away')
      const asking = renewal('paid', { ...bySubscription, unanswered })
      await assert.rejects(apply(db, [asking]), unanswered)
      await begun(db, { subscription: 'sub_1', merchantAccount: 'theirs' })
      assert.deepEqual(await apply(db, [asking]), [
        ignored('merchant_mismatch', { ...ofFirst, ...forReview }),
      ])
    }),
  )

  test(
    'nothing is asked that the report does not name, and what is known is not made again',
    rolledBack(async (db) => {
      await begun(db, {})
      await apply(db, [renewal()])
      const statements = async (outcome: PaymentOutcome) => {
        const counted = counting(db)
        await apply(counted.db, [outcome])
        return counted.statements()
      }
      assert.equal(await statements(stated('paid')), 1)
      // The charge, the first payment and its subscription; the lock; the first one's status.
      assert.equal(await statements(renewal()), 5)
      // The charge, the subscription.
      const unknown = { ...bySubscription, payment: { providerReference: 'pi_3' } }
      assert.equal(await statements(renewal('paid', unknown)), 2)
    }),
  )

  test(
    'by whom the first payment was named is known',
    rolledBack(async (db) => {
      await begun(db, { subscription: 'sub_1' })
      await charge(db, 'b')
      const named = async (fields: Partial<PaymentOutcome>) => {
        const outcome = renewal('paid', fields) as RenewalOutcome
        const report = { gateway: 'x', cause: 'call', callId: null, outcomes: [] } as const
        const found = await findFirstPayment(db, { report, outcome })
        return 'first' in found && `${found.named} ${standing(found.first)}`
      }
      assert.equal(await named(bySubscription), 'stated a paid')
      assert.equal(await named({}), 'stated a paid')
      assert.equal(await named({ subscriptionReference: 'sub_2' }), 'contradicted a paid')
      const byPayer = { ...claiming, subscriptionReference: 'sub_2' } as const
      assert.equal(
        await named({ ...byPayer, claimed: { ...claimed, id: idOf('b') } }),
        'claimed b pending',
      )
    }),
  )
})
