import assert from 'node:assert/strict'
import type {
  Moment,
  SubscriptionChange,
  SubscriptionState,
} from '../../../src/subscriptions/change.ts'
import { days } from '../../../src/kernel/duration.ts'

/** What holds of every single decision. */
export function checkChange(
  state: SubscriptionState,
  change: SubscriptionChange,
  { now, held }: Moment,
): void {
  const before = state.subscription
  const after = change.subscription
  const { payment, periods, events } = change
  if (before.status === 'canceled') {
    assert.equal(after.status, 'canceled')
    assert.deepEqual([periods, events, payment], [[], [], null], 'what has ended stays as it is')
    assert.equal(after.nextActionAt, null)
    return
  }
  assert.ok(before.paidUntil === null || (after.paidUntil && after.paidUntil >= before.paidUntil))
  assert.equal(change.transition?.to ?? before.status, after.status)
  assert.equal(change.transition?.from ?? before.status, before.status)
  if (payment !== null) {
    const period = periods.find(({ id }) => id === payment.periodId)
    assert.ok(period?.state === 'open', 'only what is owed is charged')
    assert.equal(state.live, null, 'never while a payment is live')
    if (payment.paymentMethodId !== null) {
      assert.ok(!held, 'no charge while charges are on hold')
      assert.ok(state.isCardUsable || before.paymentMethodId !== after.paymentMethodId)
      assert.ok(period.endsAt > now || before.status === 'incomplete' || before.status === 'paused')
      assert.ok(period.declines <= 40, 'the network allows few attempts')
    }
  }
  const isResting = after.status === 'canceled' || after.status === 'paused'
  assert.ok(after.nextActionAt !== null || isResting, 'a next time, or an end')
  const types = new Set<string>(events.map(({ type }) => type))
  const isEnd = types.has('SubscriptionCancelled') || types.has('SubscriptionPaused')
  assert.ok(!(isEnd && types.has('SubscriptionPaymentFailed')), 'an end is told alone')
  for (const period of periods) {
    const isAbandoned = period.state === 'void' && state.live?.periodId === period.id
    const mayBePaid = isAbandoned && !state.live.isPage && !state.live.needsPayer
    assert.ok(!mayBePaid || after.status === 'canceled', 'what is being charged is waited for')
    if (period.state === 'paid') assert.ok(period.amount === 0n || period.paidPaymentId !== null)
    assert.ok(period.endsAt.getTime() - period.startsAt.getTime() < days(367 * 10))
  }
}
