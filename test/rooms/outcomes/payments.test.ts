import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kysely } from 'kysely'
import { findSubscriptionReference } from '../../../src/database/subscription-references.ts'
import type { Tables } from '../../../src/database/tables.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { movePayments } from '../../../src/outcomes/move-payments.ts'
import type { PaymentOutcome } from '../../../src/payments/outcome.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
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
  type Name,
} from './room.ts'

type Stated = PaymentOutcome['status']

const eventOf = { paid: 'PaymentSucceeded', failed: 'PaymentFailed', canceled: 'PaymentCanceled' }

/** A claim of what a payment has become. */
const claim = (status: Stated, payment = `a ${status}`): Brief => ({
  type: `payment:${status}`,
  claims: eventOf[status],
  key: `payment:${status}:${payment.slice(0, 1)}`,
  about: payment,
  of: payment,
})
/** A report that changes nothing. */
const ignored = (reason: string, payment: string, also: Brief = {}): Brief => ({
  type: 'payment',
  reason,
  of: payment,
  ...also,
})
/** A saved card. */
const cardOf = async (db: Kysely<Tables>) => {
  const id = newUuid()
  const card = { id, gateway: 'x', status: 'attached', provider_reference: id } as const
  await db.insertInto('billing.payment_methods').values(card).execute()
  return id
}
const standingOf = async (db: Kysely<Tables>, name: Name) => standing(await rowOf(db, name))

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  for (const [from, to] of [
    ['pending', 'paid'],
    ['pending', 'failed'],
    ['pending', 'canceled'],
    ['failed', 'paid'],
    ['canceled', 'paid'],
  ] as const) {
    test(
      `what is ${from} becomes ${to}: the row moves, its history says by what, an event is to be claimed`,
      rolledBack(async (db) => {
        await charge(db, 'a', { status: from })
        const bystander = await charge(db, 'b', { status: from })
        assert.deepEqual(await apply(db, [stated(to)]), [claim(to)])
        assert.equal(await standingOf(db, 'a'), `a ${to}`)
        assert.deepEqual(await historyOf(db, idOf('a')), [`${from} > ${to} by call f`])
        assert.deepEqual(await rowOf(db, 'b'), bystander)
      }),
    )
  }

  for (const status of ['paid', 'failed', 'canceled'] as const) {
    test(
      `that a ${status} payment is ${status} moves nothing; its event is claimed, if nobody has`,
      rolledBack(async (db) => {
        const before = await charge(db, 'a', { status })
        assert.deepEqual(await apply(db, [stated(status)]), [claim(status)])
        assert.deepEqual(await rowOf(db, 'a'), before)
        assert.deepEqual(await historyOf(db, idOf('a')), [])
      }),
    )
  }

  for (const [status, said, reason] of [
    ['paid', 'failed', 'already_paid'],
    ['paid', 'canceled', 'already_paid'],
    ['failed', 'canceled', 'already_settled'],
    ['canceled', 'failed', 'already_settled'],
  ] as const) {
    test(
      `what is ${status} does not become ${said}: ${reason}`,
      rolledBack(async (db) => {
        const before = await charge(db, 'a', { status })
        assert.deepEqual(await apply(db, [stated(said)]), [ignored(reason, `a ${status}`)])
        assert.deepEqual(await rowOf(db, 'a'), before)
        assert.deepEqual(await historyOf(db, idOf('a')), [])
      }),
    )
  }

  for (const [what, fields, reason] of [
    ['another amount', { amount: 4998n }, 'amount_mismatch'],
    ['another currency', { currency: 'EUR' }, 'amount_mismatch'],
    ['another account', { merchantAccount: 'another' }, 'merchant_mismatch'],
  ] as const) {
    test(
      `money in ${what} pays nothing and binds nothing: a person looks`,
      rolledBack(async (db) => {
        const before = await charge(db, 'a')
        const money = { ...fields, providerReference: 'pi_1', subscriptionReference: 'sub_1' }
        assert.deepEqual(await apply(db, [stated('paid', money)]), [
          ignored(reason, 'a pending', { review: true }),
        ])
        assert.deepEqual(await rowOf(db, 'a'), before)
        assert.equal(await findSubscriptionReference(db, idOf('a')), undefined)
      }),
    )
  }

  test(
    'a gateway that states no money by design pays what was charged',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const asCharged: PaymentOutcome = {
        type: 'payment',
        payment: { id: idOf('a') },
        status: 'paid',
        amountIs: 'as_charged',
      }
      assert.deepEqual(await apply(db, [asCharged]), [claim('paid')])
      assert.equal(await standingOf(db, 'a'), 'a paid')
    }),
  )

  test(
    'what no call has said moves a payment, too: its history names the cause alone',
    rolledBack(async (db) => {
      await charge(db, 'a')
      await apply(db, [stated('canceled')], { callId: null, cause: 'poll' })
      assert.deepEqual(await historyOf(db, idOf('a')), ['pending > canceled by poll'])
    }),
  )

  for (const [checkout, said, closed] of [
    ['open', 'paid', 'closed'],
    ['unknown', 'canceled', 'closed'],
    ['open', 'failed', 'open'],
    ['refused', 'paid', 'refused'],
    ['none', 'canceled', 'none'],
  ] as const) {
    test(
      `a checkout that is ${checkout} is ${closed} when its payment is ${said}`,
      rolledBack(async (db) => {
        await charge(db, 'a', { checkout })
        await apply(db, [stated(said)])
        assert.equal((await rowOf(db, 'a')).checkout, closed)
      }),
    )
  }

  const ids = { checkoutReference: 'cs_1', providerReference: 'pi_1' }
  const both = { ...ids, subscriptionReference: 'sub_1' }

  for (const checkout of ['open', 'unknown', 'refused', 'closed'] as const) {
    test(
      `a declined charge of a saved card ends its checkout, which is ${checkout}`,
      rolledBack(async (db) => {
        await charge(db, 'a', { checkout, paymentMethodId: await cardOf(db) })
        await apply(db, [stated('failed')])
        const isLive = checkout === 'open' || checkout === 'unknown'
        assert.equal((await rowOf(db, 'a')).checkout, isLive ? 'closed' : checkout)
      }),
    )
  }

  for (const [said, code, kept] of [
    ['failed', 'insufficient_funds', 'insufficient_funds'],
    ['failed', 'P-57:1.0_a', 'P-57:1.0_a'],
    ['failed', 'x'.repeat(64), 'x'.repeat(64)],
    ['failed', 'x'.repeat(65), null],
    ['failed', 'do not honor', null],
    ['failed', '', null],
    ['failed', 'a\nb', null],
    ['failed', '12345678901', '12345678901'],
    ['failed', 'pan4444333322221111', null],
    ['canceled', 'insufficient_funds', null],
  ] as const) {
    test(
      `of what is ${said} with the code ${JSON.stringify(code)} the row keeps ${JSON.stringify(kept)}`,
      rolledBack(async (db) => {
        await charge(db, 'a')
        await apply(db, [stated(said, { declineCode: code })])
        assert.equal((await rowOf(db, 'a')).declineCode, kept)
      }),
    )
  }

  test(
    'a second report of a decline adds the code that the first lacks, and replaces none',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const declined = (declineCode?: string) =>
        stated('failed', { ...both, ...(declineCode !== undefined && { declineCode }) })
      await apply(db, [declined()])
      assert.equal((await rowOf(db, 'a')).declineCode, null)
      await apply(db, [declined('first')])
      await apply(db, [declined('second')])
      assert.equal((await rowOf(db, 'a')).declineCode, 'first')
      assert.equal(await standingOf(db, 'a'), 'a failed')
    }),
  )

  test(
    'what is paid after a decline keeps the code of it, and takes none',
    rolledBack(async (db) => {
      await charge(db, 'a')
      await apply(db, [stated('failed', { declineCode: 'first' })])
      await apply(db, [stated('paid', { declineCode: 'second' })])
      const { status, declineCode } = await rowOf(db, 'a')
      assert.deepEqual([status, declineCode], ['paid', 'first'])
    }),
  )

  test(
    'what pays binds the provider’s ids, and the subscription that it began',
    rolledBack(async (db) => {
      await charge(db, 'a')
      assert.deepEqual(await apply(db, [stated('paid', both)]), [claim('paid', 'a paid cs_1 pi_1')])
      assert.equal(await standingOf(db, 'a'), 'a paid cs_1 pi_1')
      assert.equal(await findSubscriptionReference(db, idOf('a')), 'sub_1')
    }),
  )

  for (const [status, from] of [
    ['failed', 'pending'],
    ['canceled', 'pending'],
    ['failed', 'failed'],
    ['canceled', 'canceled'],
  ] as const) {
    test(
      `that what was ${from} is ${status} binds nothing: tries have ids of their own`,
      rolledBack(async (db) => {
        await charge(db, 'a', { status: from })
        assert.deepEqual(await apply(db, [stated(status, both)]), [claim(status)])
        assert.equal(await standingOf(db, 'a'), `a ${status}`)
        assert.equal(await findSubscriptionReference(db, idOf('a')), undefined)
      }),
    )
  }

  for (const [known, learnt] of [
    [{}, 'a paid cs_1 pi_1'],
    [{ checkoutReference: 'cs_1' }, 'a paid cs_1 pi_1'],
    [{ providerReference: 'pi_1' }, 'a paid cs_1 pi_1'],
  ] as const) {
    test(
      `a second report of what was paid adds the ids that ${JSON.stringify(known)} lacks`,
      rolledBack(async (db) => {
        await charge(db, 'a', { status: 'paid', ...known })
        assert.deepEqual(await apply(db, [stated('paid', both)]), [claim('paid', learnt)])
        assert.equal(await standingOf(db, 'a'), learnt)
        assert.equal(await findSubscriptionReference(db, idOf('a')), 'sub_1')
      }),
    )
  }

  for (const [one, learnt] of [
    [{ checkoutReference: 'cs_1' }, 'a paid cs_1'],
    [{ providerReference: 'pi_1' }, 'a paid pi_1'],
    [{}, 'a paid'],
  ] as const) {
    test(
      `a second report that names ${JSON.stringify(one)} adds no more than that`,
      rolledBack(async (db) => {
        await charge(db, 'a', { status: 'paid' })
        assert.deepEqual(await apply(db, [stated('paid', one)]), [claim('paid', learnt)])
        assert.equal(await standingOf(db, 'a'), learnt)
        assert.equal(await findSubscriptionReference(db, idOf('a')), undefined)
      }),
    )
  }

  test(
    'a renewal’s subscription is the one of its first payment, and not bound to its own',
    rolledBack(async (db) => {
      await charge(db, 'b', { status: 'paid' })
      await charge(db, 'a', { providerReference: 'pi_1' })
      const renewal = { ...both, payment: { providerReference: 'pi_1' }, renews: { id: idOf('b') } }
      for (let said = 1; said <= 2; said += 1) {
        await apply(db, [stated('paid', renewal)])
        assert.equal(await standingOf(db, 'a'), 'a paid cs_1 pi_1')
        assert.equal(await findSubscriptionReference(db, idOf('a')), undefined)
      }
    }),
  )

  for (const [what, reference] of [
    ['checkout', { checkoutReference: 'cs_1' }],
    ['charge', { providerReference: 'pi_1' }],
  ] as const) {
    for (const status of ['pending', 'paid'] as const) {
      test(
        `the provider’s ${what} pays one payment: for another, ${status}, a person looks`,
        rolledBack(async (db) => {
          await charge(db, 'b', reference)
          const before = await charge(db, 'a', { status })
          assert.deepEqual(await apply(db, [stated('paid', reference)]), [
            ignored('provider_reference_taken', `a ${status}`, { review: true }),
          ])
          assert.deepEqual(await rowOf(db, 'a'), before)
        }),
      )
    }

    test(
      `the same id of a ${what} in two accounts, or at two gateways, is two of them`,
      rolledBack(async (db) => {
        await charge(db, 'b', { ...reference, merchantAccount: 'theirs' })
        await charge(db, 'c', reference)
        await charge(db, 'd', { ...reference, gateway: 'y', merchantAccount: 'ours' })
        await charge(db, 'a', { merchantAccount: 'ours' })
        const [one] = await apply(db, [stated('paid', { ...reference, merchantAccount: 'ours' })])
        assert.equal(one?.['claims'], 'PaymentSucceeded')
      }),
    )

    test(
      `within one account the id of a ${what} is taken once`,
      rolledBack(async (db) => {
        await charge(db, 'b', { ...reference, merchantAccount: 'ours' })
        await charge(db, 'a', { merchantAccount: 'ours' })
        const [one] = await apply(db, [stated('paid', { ...reference, merchantAccount: 'ours' })])
        assert.equal(one?.['reason'], 'provider_reference_taken')
      }),
    )

    test(
      `a decline may name the ${what} of another payment: it binds none`,
      rolledBack(async (db) => {
        await charge(db, 'b', reference)
        await charge(db, 'a')
        assert.deepEqual(await apply(db, [stated('failed', reference)]), [claim('failed')])
      }),
    )
  }

  test(
    'money that is not the payment’s is said to be so, even if its id is another’s',
    rolledBack(async (db) => {
      await charge(db, 'b', { providerReference: 'pi_1' })
      await charge(db, 'a')
      const [one] = await apply(db, [stated('paid', { providerReference: 'pi_1', amount: 1n })])
      assert.equal(one?.['reason'], 'amount_mismatch')
    }),
  )

  test(
    'where one id is taken, the payment beside it is paid all the same',
    rolledBack(async (db) => {
      await charge(db, 'c', { providerReference: 'pi_1' })
      await charge(db, 'a')
      await charge(db, 'b')
      const second = { payment: { id: idOf('b') }, providerReference: 'pi_2' }
      assert.deepEqual(
        await apply(db, [stated('paid', { providerReference: 'pi_1' }), stated('paid', second)]),
        [
          ignored('provider_reference_taken', 'a pending', { review: true }),
          claim('paid', 'b paid pi_2'),
        ],
      )
    }),
  )

  test(
    'outcomes of one payment follow each other in the order of their reports, others go together',
    rolledBack(async (db) => {
      await charge(db, 'a')
      await charge(db, 'b')
      const results = await applyAll(db, [
        { gateway: 'x', cause: 'call', callId: idOf('e'), outcomes: [stated('failed')] },
        {
          gateway: 'x',
          cause: 'call',
          callId: idOf('f'),
          outcomes: [
            stated('canceled', { payment: { id: idOf('b') } }),
            stated('paid', ids),
            stated('paid', { subscriptionReference: 'sub_1' }),
            stated('canceled'),
          ],
        },
      ])
      assert.deepEqual(results, [
        [claim('failed')],
        [
          claim('canceled', 'b canceled'),
          claim('paid', 'a paid cs_1 pi_1'),
          claim('paid', 'a paid cs_1 pi_1'),
          ignored('already_paid', 'a paid cs_1 pi_1'),
        ],
      ])
      assert.deepEqual(await historyOf(db, idOf('a')), [
        'pending > failed by call e',
        'failed > paid by call f',
      ])
      assert.equal(await findSubscriptionReference(db, idOf('a')), 'sub_1')
    }),
  )

  for (const [said, review] of [
    ['failed', undefined],
    ['canceled', 'review'],
  ] as const) {
    test(
      `a call that had made a payment ${said} before it was paid, and comes again, claims its event as superseded`,
      rolledBack(async (db) => {
        await charge(db, 'a')
        const ofBlocked = review && { ifPaid: review }
        await apply(db, [stated(said, ofBlocked)], { callId: idOf('e') })
        await apply(db, [stated('paid', ids)])
        const about = 'a paid cs_1 pi_1'
        const superseded = { ...claim(said, about), superseded: true }
        assert.deepEqual(
          await apply(db, [stated(said, { ...ofBlocked, ...both })], { callId: idOf('e') }),
          [{ ...superseded, ...(review && { review: true }) }],
        )
        const another = await apply(db, [stated(said, ofBlocked)], { callId: idOf('d') })
        assert.deepEqual(another, [ignored('already_paid', about, review && { review: true })])
        assert.equal(await findSubscriptionReference(db, idOf('a')), undefined)
      }),
    )
  }

  test(
    'one call that declined a payment, and paid it then, says both again: the first as superseded',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const outcomes = [stated('failed'), stated('paid')]
      assert.deepEqual(await apply(db, outcomes), [claim('failed'), claim('paid')])
      assert.deepEqual(await apply(db, outcomes), [
        { ...claim('failed', 'a paid'), superseded: true },
        claim('paid'),
      ])
      assert.deepEqual(await apply(db, [stated('canceled')]), [ignored('already_paid', 'a paid')])
    }),
  )

  test(
    'a poll that says of a paid payment that it failed supersedes nothing',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const poll = { callId: null, cause: 'poll' } as const
      await apply(db, [stated('failed')], poll)
      await apply(db, [stated('paid')], poll)
      assert.deepEqual(await apply(db, [stated('failed')], poll), [
        ignored('already_paid', 'a paid'),
      ])
    }),
  )

  test(
    'a checkout that the row does not know yet may be on its way into it: the call waits',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const claimed = { id: idOf('a'), by: 'payer' } as const
      const awaiting = (...names: readonly string[]) => ({ awaiting: names })
      const checkout = { payment: { checkoutReference: 'cs_1' }, claimed }
      assert.deepEqual(await apply(db, [stated('failed', checkout)]), [
        ignored('checkout_reference_unknown', 'a pending', awaiting('checkout:x/cs_1')),
      ])
      const anybody = { ...checkout, claimed: { ...claimed, by: 'anybody' } } as const
      assert.deepEqual(await apply(db, [stated('paid', anybody)]), [
        ignored('checkout_reference_unknown', 'a pending', {
          review: true,
          ...awaiting('checkout:x/cs_1'),
        }),
      ])
    }),
  )

  for (const ifPaid of ['refunded', 'review'] as const) {
    test(
      `blocked money that is let go leaves a word to find it by, should the payment be paid (${ifPaid})`,
      rolledBack(async (db) => {
        await charge(db, 'a')
        const detail = { detail: 'released' }
        const release = stated('canceled', { ifPaid })
        assert.deepEqual(await apply(db, [release]), [{ ...claim('canceled'), ...detail }])
        assert.deepEqual(await apply(db, [release]), [{ ...claim('canceled'), ...detail }])
        await charge(db, 'b', { status: 'failed' })
        const other = { ...release, payment: { id: idOf('b') } }
        assert.deepEqual(await apply(db, [other]), [ignored('already_settled', 'b failed', detail)])
      }),
    )
  }

  test(
    'what is ignored for another reason leaves no such word',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const release = stated('canceled', { ifPaid: 'review', merchantAccount: 'another' })
      assert.deepEqual(await apply(db, [release]), [ignored('merchant_mismatch', 'a pending')])
    }),
  )

  test(
    'the row has the last word: what is no longer as the report found it does not move',
    rolledBack(async (db) => {
      await charge(db, 'b')
      const stale = await charge(db, 'a')
      await apply(db, [stated('paid')])
      const [callId, other] = [idOf('f'), await rowOf(db, 'b')]
      const report = { gateway: 'x', cause: 'call', callId, outcomes: [] } as const
      const move = (status: Stated) =>
        movePayments(
          db,
          [
            { entry: { report, outcome: stated('failed') }, payment: other },
            { entry: { report, outcome: stated(status) }, payment: stale },
          ],
          newUuid,
        )
      await assert.rejects(move('canceled'), {
        message: `payment ${idOf('a')} refused to become canceled`,
      })
    }),
  )

  test(
    'the number of statements does not grow with that of the payments',
    rolledBack(async (db) => {
      const statements = async (outcomes: readonly PaymentOutcome[]) => {
        const counted = counting(db)
        await apply(counted.db, outcomes)
        return counted.statements()
      }
      const names = ['a', 'b', 'c'] as const
      for (const name of names) await charge(db, name)
      const each = (status: Stated, fields: Partial<PaymentOutcome> = {}) =>
        names.map((name) => stated(status, { payment: { id: idOf(name) }, ...fields }))
      // Locks them, moves them.
      assert.equal(await statements(each('failed')), 2)
      // And looks who has the ids, and for calls that had let blocked money go.
      const references = names.map((name) => ({
        checkoutReference: `cs_${name}`,
        providerReference: `pi_${name}`,
      }))
      const paid = each('paid').map((one, index) => ({ ...one, ...references[index] }))
      assert.equal(await statements(paid), 4)
      // Nothing new: the rows are locked.
      assert.equal(await statements(paid), 1)
      assert.equal(await statements(each('paid')), 1)
      assert.equal(await statements([]), 0)

      // Where no ids are known, and none are stated, nobody else can have them.
      await charge(db, 'd', { status: 'paid' })
      assert.equal(await statements([stated('paid', { payment: { id: idOf('d') } })]), 1)
    }),
  )
})
