import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { closeForgottenPages } from '../../src/money/close-page.ts'
import { decideSubscription } from '../../src/money/decide-subscription.ts'
import { pollPayment } from '../../src/money/poll-payment.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { applyReport } from '../../src/processing/apply-report.ts'
import { payPeriod } from '../../src/subscriptions/pay-period.ts'
import { cancelSubscription } from '../../src/subscriptions/cancel-subscription.ts'
import { age, pollReply } from '../money/scripted.ts'
import { onAnyDatabase } from '../support/databases.ts'
import {
  answers,
  declined,
  openSubscribing,
  takesMoney,
  unanswered,
  type Subscribing,
} from './subscribing.ts'

onAnyDatabase((engine) => {
  describe('the page on which a period is paid', () => {
    let at: Subscribing
    before(async () => {
      at = await openSubscribing(engine)
    })
    after(() => at.billing.close())
    beforeEach(async () => {
      takesMoney(at.script, at.till)
      delete at.script.closeCheckout
      const { db } = at.billing.database
      await sql`update billing.subscriptions set next_action_at = null`.execute(db)
      await sql`delete from billing.schedules where held_reason is not null`.execute(db)
    })

    /** Past due: its card was declined. */
    const pastDue = async () => {
      const { subscription } = await at.subscribe({ paymentMethodId: await at.card() })
      answers(at, declined())
      at.pass(days(31))
      await at.run()
      takesMoney(at.script, at.till)
      at.till.asked.length = 0
      assert.equal((await at.state(subscription)).status, 'past_due')
      return subscription
    }
    const openPage = async (of: { readonly id: string }): Promise<Payment> => {
      const decided = await decideSubscription(of.id, payPeriod, at.context)
      assert.ok(decided.kind === 'changed' && decided.payment !== null)
      assert.equal(decided.payment.checkoutUrl, 'https://provider.example/pay')
      return decided.payment
    }
    const report = (...outcomes: readonly Outcome[]) =>
      applyReport(
        { gateway: 'scripted', cause: 'poll', queue: 'default', outcomes },
        at.context.processing,
      )
    const statuses = async (of: { readonly id: string }) =>
      (await at.payments(of)).map(({ status }) => status)

    test('24: at the next retry it is closed at the provider, and the card is charged', async () => {
      const made = await pastDue()
      const page = await openPage(made)
      at.pass(days(1) + minutes(1))
      at.script.closeCheckout = async () => 'closed'
      await at.run()
      at.pass(minutes(16))
      await at.run()
      assert.deepEqual(await statuses(made), ['paid', 'failed', 'canceled', 'paid'])
      assert.equal((await at.state(made)).status, 'active')
      assert.ok(!at.till.debits.includes(page.id))
    })

    test('one that may not be there is not returned until it is found', async () => {
      const made = await pastDue()
      const { pay } = at.billing.core.subscriptions
      const { open } = at.script
      at.script.open = async () => {
        throw new QuittanceError('provider_unreachable', 'the answer was lost')
      }
      for (let times = 0; times < 2; times += 1) {
        await assert.rejects(pay(made.id), { code: 'checkout_unknown' })
      }
      if (open !== undefined) at.script.open = open
      const page = (await at.payments(made)).at(-1)
      assert.ok(page)
      const url = 'https://provider.example/found'
      at.script.poll = async () => pollReply([], { checkout: { url } })
      await pollPayment(page.id, at.context)
      const { id, checkoutUrl } = await pay(made.id)
      assert.deepEqual([id, checkoutUrl], [page.id, url])
    })

    test('24: while it cannot be closed no card is charged', async () => {
      const made = await pastDue()
      const page = await openPage(made)
      at.pass(days(1) + minutes(1))
      at.script.closeCheckout = async () => 'not_open'
      at.script.poll = async () => pollReply([], { standing: 'undecided' })
      await at.run()
      at.pass(minutes(16))
      await at.run()
      assert.deepEqual(at.till.asked, [])
      await report(at.paidOutcome(page))
      assert.equal((await at.state(made)).status, 'active')
      at.pass(hours(1))
      await at.run()
      assert.deepEqual(at.till.asked, [])
      assert.deepEqual(await statuses(made), ['paid', 'failed', 'paid'])
    })

    test('24: one that was declined and whose time is over is closed here', async () => {
      const made = await pastDue()
      const page = await openPage(made)
      await report({ type: 'payment', payment: { id: page.id }, status: 'failed' })
      // A decline there is the payer’s to repeat.
      assert.equal((await at.state(made)).eventNumber, 2)
      at.script.closeCheckout = async () => 'not_open'
      at.script.poll = async () => pollReply([], { standing: 'open' })
      at.pass(days(1) + minutes(1))
      await at.run()
      at.pass(minutes(16))
      await at.run()
      assert.deepEqual(await statuses(made), ['paid', 'failed', 'failed', 'paid'])
    })

    test('29: one that is left alone is no decline', async () => {
      const made = await pastDue()
      const page = await openPage(made)
      const before = await at.state(made)
      await age(at.billing, page, 3)
      await sql`update billing.payments set expires_at = statement_timestamp() - interval '1 hour'
        where id = ${page.id}`.execute(at.billing.database.db)
      at.script.poll = async () => pollReply([], { standing: 'unpaid' })
      await pollPayment(page.id, at.context)
      const after = await at.state(made)
      assert.deepEqual([after.status, after.eventNumber], ['past_due', before.eventNumber])
      const [, period] = await at.periods(made)
      assert.equal(period?.declines, 1)
    })

    test('the card that is saved there is charged from now on, said again it changes nothing', async () => {
      const made = await pastDue()
      const page = await openPage(made)
      const saved = {
        type: 'payment_method',
        status: 'attached',
        reference: `pm_page_${made.id}`,
        payment: { id: page.id },
      } as const
      await report(at.paidOutcome(page), saved)
      const renewed = await at.state(made)
      assert.equal(renewed.status, 'active')
      const { data } = await at.billing.core.paymentMethods.list({ paymentId: page.id })
      assert.equal(renewed.paymentMethodId, data[0]?.id)
      const other = await at.card()
      await sql`update billing.subscriptions set payment_method_id = ${other}
        where id = ${made.id}`.execute(at.billing.database.db)
      await report(at.paidOutcome(page), saved)
      assert.equal((await at.state(made)).paymentMethodId, other)
    })

    test('25: an old attempt that is paid late, too, is shown to a person', async () => {
      const { subscription: made } = await at.subscribe({ paymentMethodId: await at.card() })
      answers(at, unanswered)
      at.pass(days(31))
      await at.run()
      const [, attempt] = await at.payments(made)
      assert.ok(attempt)
      await age(at.billing, attempt, 2)
      answers(at, declined())
      await pollPayment(attempt.id, at.context)
      await at.run()
      const page = await openPage(made)
      await report(at.paidOutcome(page))
      const before = await at.state(made)
      assert.equal(before.status, 'active')
      await report(at.paidOutcome(attempt))
      assert.deepEqual(await at.reviews(), ['period_paid_twice'])
      assert.deepEqual((await at.state(made)).paidUntil, before.paidUntil)
      await report(at.paidOutcome(attempt))
      assert.equal((await at.reviews()).length, 1)
    })

    test('one that nobody owes any more and that was declined and is over is closed here', async () => {
      const made = await pastDue()
      const page = await openPage(made)
      await report({ type: 'payment', payment: { id: page.id }, status: 'failed' })
      let asked = 0
      at.script.closeCheckout = async () => {
        asked += 1
        return 'not_open'
      }
      await decideSubscription(
        made.id,
        (state, moment) => cancelSubscription(state, { at: 'now' }, moment),
        at.context,
      )
      await closeForgottenPages(at.context)
      assert.equal((await at.billing.details(page)).checkout, 'open')
      assert.equal(asked, 2)
      at.pass(hours(2))
      await closeForgottenPages(at.context)
      assert.equal((await at.billing.details(page)).checkout, 'closed')
      await closeForgottenPages(at.context)
      assert.equal(asked, 3)
    })

    test('one that ended long ago is not asked about for ever', async () => {
      const made = await pastDue()
      await openPage(made)
      let asked = 0
      at.script.closeCheckout = async () => {
        asked += 1
        throw new Error('the gateway is gone')
      }
      await decideSubscription(
        made.id,
        (state, moment) => cancelSubscription(state, { at: 'now' }, moment),
        at.context,
      )
      await closeForgottenPages(at.context)
      assert.equal(asked, 2)
      at.pass(days(2))
      await closeForgottenPages(at.context)
      assert.equal(asked, 2)
    })

    test('a process that stops asks of no further page', async () => {
      const made = await pastDue()
      await openPage(made)
      let asked = 0
      at.script.closeCheckout = async () => {
        asked += 1
        throw new Error('the provider does not answer')
      }
      await decideSubscription(
        made.id,
        (state, moment) => cancelSubscription(state, { at: 'now' }, moment),
        at.context,
      )
      await closeForgottenPages(at.context, AbortSignal.abort())
      assert.equal(asked, 1)
      await closeForgottenPages(at.context)
      assert.equal(asked, 2)
    })

    test('one of a subscription that was canceled is closed, also where that was cut off', async () => {
      const made = await pastDue()
      const page = await openPage(made)
      at.script.closeCheckout = async () => {
        throw new Error('cut off')
      }
      await decideSubscription(
        made.id,
        (state, moment) => cancelSubscription(state, { at: 'now' }, moment),
        at.context,
      ).catch(() => {})
      assert.equal((await at.state(made)).status, 'canceled')
      at.script.closeCheckout = async () => 'closed'
      await closeForgottenPages(at.context)
      assert.equal((await at.billing.details(page)).status, 'canceled')
      assert.equal((await at.billing.details(page)).checkout, 'closed')
      await report(at.paidOutcome(page))
      assert.ok((await at.reviews()).includes('period_void'))
    })
  })
})
