import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rehearse, type Rehearsal, type RehearsalOptions } from '../../src/testing/index.ts'
import type { CreateSubscriptionInput } from '../../src/money/subscription-input.ts'

/** A subscription of 199.00 UAH a month, unless the fields differ. */
async function sell(rehearsal: Rehearsal, fields: Partial<CreateSubscriptionInput> = {}) {
  const { subscription } = await rehearsal.billing.subscriptions.create({
    gateway: 'fake',
    payable: { type: 'account', id: '7' },
    amount: 19900,
    currency: 'UAH',
    every: 'month',
    ...fields,
  })
  return subscription.id
}

const opened = (options: RehearsalOptions = {}) => rehearse({ ...options })

async function assertTimeline(rehearsal: Rehearsal, id: string, expected: string): Promise<void> {
  const { text } = await rehearsal.timeline(id)
  assert.equal(text, expected.trim())
}

test('a trial announces its end and converts', async () => {
  await using rehearsal = await opened()
  const card = await rehearsal.saveCard()
  const id = await sell(rehearsal, { trialDays: 14, paymentMethodId: card.id })
  await rehearsal.advance('15 days')
  await assertTimeline(
    rehearsal,
    id,
    `
2027-01-01 00:00  status  trialing
                  free    trial, 2027-01-01 - 2027-01-15
                  access  yes
2027-01-12 00:00  event   TrialWillEnd                 mail: the trial ends on 2027-01-15; then the card is charged
2027-01-15 00:00  charge  199.00 UAH for 2027-01-15 - 2027-02-15: paid
                  status  trialing -> active (paid)
                  event   TrialEnded
                  event   SubscriptionRenewed          mail: thank you for staying, with a receipt
`,
  )
  assert.equal(rehearsal.now().toISOString(), '2027-01-16T00:00:00.000Z')
})

test('soft declines are tried again as the settings say, and end the subscription', async () => {
  await using rehearsal = await opened({
    subscriptions: { retryDays: [1, 4], graceAccess: false, periodNoticeDays: [] },
  })
  const card = await rehearsal.saveCard()
  card.behaves('soft', { after: 1 })
  const id = await sell(rehearsal, { paymentMethodId: card.id })
  await rehearsal.advance('2 months')
  await assertTimeline(
    rehearsal,
    id,
    `
2027-01-01 00:00  status  incomplete
                  charge  199.00 UAH for 2027-01-01 - 2027-02-01: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-01 00:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: declined, insufficient_funds
                  status  active -> past_due (declined)
                  event   SubscriptionPaymentFailed    mail: the card was declined; we try again on 2027-02-02, or pay now (pay page)
                  event   SubscriptionAccessSuspended  mail: there is no access until it is paid
                  access  no
2027-02-02 00:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: declined, insufficient_funds
                  event   SubscriptionPaymentFailed    mail: the card was declined; we try again on 2027-02-05, or pay now (pay page)
2027-02-05 00:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: declined, insufficient_funds
                  status  past_due -> canceled (payment_failed)
                  event   SubscriptionCancelled        mail: it has ended, for it was not paid
`,
  )
})

test('after a hard decline another card is charged at once', async () => {
  await using rehearsal = await opened({ subscriptions: { periodNoticeDays: [] } })
  const card = await rehearsal.saveCard()
  card.behaves('hard', { after: 1 })
  const id = await sell(rehearsal, { paymentMethodId: card.id })
  await rehearsal.advance('1 month')
  await rehearsal.advance('36 hours')
  const other = await rehearsal.saveCard()
  await rehearsal.billing.subscriptions.change(id, { paymentMethodId: other.id })
  await rehearsal.advance('1 day')
  await assertTimeline(
    rehearsal,
    id,
    `
2027-01-01 00:00  status  incomplete
                  charge  199.00 UAH for 2027-01-01 - 2027-02-01: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-01 00:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: declined, stolen_card
                  status  active -> past_due (declined)
                  event   SubscriptionPaymentFailed    mail: the card cannot be charged: put in another one (pay page)
2027-02-02 12:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: paid
                  status  past_due -> active (paid)
                  event   SubscriptionRenewed          mail: all is well again, with a receipt
`,
  )
})

test('a period that begins on a 31st ends with the shorter month and comes back', async () => {
  await using rehearsal = await opened({
    startsAt: new Date('2027-01-31T12:00:00Z'),
    subscriptions: { periodNoticeDays: [] },
  })
  const card = await rehearsal.saveCard()
  const id = await sell(rehearsal, { paymentMethodId: card.id })
  await rehearsal.advance(new Date('2027-05-01T00:00:00Z'))
  await assertTimeline(
    rehearsal,
    id,
    `
2027-01-31 12:00  status  incomplete
                  charge  199.00 UAH for 2027-01-31 12:00 - 2027-02-28 12:00: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-28 12:00  charge  199.00 UAH for 2027-02-28 12:00 - 2027-03-31 12:00: paid
                  event   SubscriptionRenewed          mail: a receipt
2027-03-31 12:00  charge  199.00 UAH for 2027-03-31 12:00 - 2027-04-30 12:00: paid
                  event   SubscriptionRenewed          mail: a receipt
2027-04-30 12:00  charge  199.00 UAH for 2027-04-30 12:00 - 2027-05-31 12:00: paid
                  event   SubscriptionRenewed          mail: a receipt
`,
  )
})

test('periods begin at the same time of day in the customer’s zone, in summer and winter', async () => {
  await using rehearsal = await opened({
    startsAt: new Date('2027-02-28T22:00:00Z'),
    subscriptions: { periodNoticeDays: [], timeZone: 'Europe/Kyiv' },
  })
  const card = await rehearsal.saveCard()
  const id = await sell(rehearsal, { paymentMethodId: card.id })
  await rehearsal.advance('2 months')
  await assertTimeline(
    rehearsal,
    id,
    `
2027-02-28 22:00  status  incomplete
                  charge  199.00 UAH for 2027-02-28 22:00 - 2027-03-31 21:00: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-03-31 21:00  charge  199.00 UAH for 2027-03-31 21:00 - 2027-04-30 21:00: paid
                  event   SubscriptionRenewed          mail: a receipt
`,
  )
})

test('after a week of downtime whole periods that went by are skipped, not charged', async () => {
  await using rehearsal = await opened({ subscriptions: { periodNoticeDays: [] } })
  const card = await rehearsal.saveCard()
  const id = await sell(rehearsal, { every: '2 days', paymentMethodId: card.id })
  await rehearsal.advance('1 day')
  await rehearsal.downtime('7 days')
  await rehearsal.advance('1 day')
  await assertTimeline(
    rehearsal,
    id,
    `
2027-01-01 00:00  status  incomplete
                  charge  199.00 UAH for 2027-01-01 - 2027-01-03: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-01-09 00:00  charge  199.00 UAH for 2027-01-09 - 2027-01-11: paid; 3 before it skipped
                  event   SubscriptionRenewed          mail: a receipt
`,
  )
})

test('a pause begins with the end of what is paid, and a resumption begins a new period', async () => {
  await using rehearsal = await opened({ subscriptions: { periodNoticeDays: [] } })
  const card = await rehearsal.saveCard()
  const id = await sell(rehearsal, { paymentMethodId: card.id })
  await rehearsal.advance('10 days')
  await rehearsal.billing.subscriptions.pause(id, { until: new Date('2027-03-10T00:00:00Z') })
  await rehearsal.advance('3 months')
  await assertTimeline(
    rehearsal,
    id,
    `
2027-01-01 00:00  status  incomplete
                  charge  199.00 UAH for 2027-01-01 - 2027-02-01: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-01 00:00  status  active -> paused (requested)
                  event   SubscriptionPaused           mail: it is paused until 2027-03-10
                  access  no
2027-03-10 00:00  charge  199.00 UAH for 2027-03-10 - 2027-04-10: paid
                  status  paused -> active (paid)
                  event   SubscriptionResumed          mail: it goes on
                  event   SubscriptionRenewed          mail: a receipt
                  access  yes
2027-04-10 00:00  charge  199.00 UAH for 2027-04-10 - 2027-05-10: paid
                  event   SubscriptionRenewed          mail: a receipt
`,
  )
})

test('a planned end takes access at its time while the service is down, too', async () => {
  await using rehearsal = await opened({ subscriptions: { periodNoticeDays: [] } })
  const card = await rehearsal.saveCard()
  const id = await sell(rehearsal, { paymentMethodId: card.id })
  await rehearsal.billing.subscriptions.cancel(id)
  const trial = await sell(rehearsal, { trialDays: 30 })
  await rehearsal.advance(new Date('2027-01-30T00:00:00Z'))
  await rehearsal.downtime('7 days')
  const access = async (one: string) =>
    (await rehearsal.timeline(one)).entries
      .filter(({ kind }) => kind === 'access')
      .map(({ at, text }) => `${at.toISOString().slice(0, 10)} ${text}`)
  assert.deepEqual(await access(id), ['2027-01-01 yes', '2027-02-01 no'])
  assert.deepEqual(await access(trial), ['2027-01-01 yes', '2027-01-31 no'])
})

test('a charge that the bank wants confirmed is confirmed by the payer, and paid once', async () => {
  await using rehearsal = await opened({ subscriptions: { periodNoticeDays: [] } })
  const card = await rehearsal.saveCard()
  card.behaves('confirm', { after: 1, times: 1 })
  const id = await sell(rehearsal, { paymentMethodId: card.id })
  await rehearsal.advance('1 month')
  await rehearsal.advance('5 hours')
  await rehearsal.payPage(id)
  await rehearsal.advance('1 month')
  await assertTimeline(
    rehearsal,
    id,
    `
2027-01-01 00:00  status  incomplete
                  charge  199.00 UAH for 2027-01-01 - 2027-02-01: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-01 00:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: paid on 2027-02-01 05:00
                  status  active -> past_due (needs_confirmation)
                  event   SubscriptionPaymentFailed    mail: confirm the payment (pay page); we try again on 2027-02-02
2027-02-01 05:00  status  past_due -> active (paid)
                  event   SubscriptionRenewed          mail: all is well again, with a receipt
2027-03-01 00:00  charge  199.00 UAH for 2027-03-01 - 2027-04-01: paid
                  event   SubscriptionRenewed          mail: a receipt
`,
  )
})

test('a charge without an answer touches no customer, and is paid once the provider tells', async () => {
  await using rehearsal = await opened({ subscriptions: { periodNoticeDays: [] } })
  const card = await rehearsal.saveCard()
  card.behaves('cut', { after: 1, times: 1 })
  const id = await sell(rehearsal, { paymentMethodId: card.id })
  await rehearsal.advance('40 days')
  await assertTimeline(
    rehearsal,
    id,
    `
2027-01-01 00:00  status  incomplete
                  charge  199.00 UAH for 2027-01-01 - 2027-02-01: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-01 00:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: paid on 2027-02-01 00:05
2027-02-01 00:05  event   SubscriptionRenewed          mail: a receipt
`,
  )
})

test('listeners run at the time of their events, and a thrower is tried again in that time', async () => {
  const seen: string[] = []
  let failures = 1
  await using rehearsal = await rehearse({
    listeners: {
      followAccess: {
        on: ['SubscriptionRenewed', 'SubscriptionPeriodEnding'],
        run: ({ type, subscription }) => {
          if (type === 'SubscriptionPeriodEnding' && failures-- > 0)
            throw new Error('no mail today')
          seen.push(`${rehearsal.now().toISOString()} ${type} ${subscription.access}`)
        },
      },
    },
  })
  const card = await rehearsal.saveCard()
  await sell(rehearsal, { paymentMethodId: card.id })
  await rehearsal.advance('1 month')
  assert.deepEqual(seen, [
    '2027-01-01T00:00:00.000Z SubscriptionRenewed true',
    '2027-01-29T00:00:10.000Z SubscriptionPeriodEnding true',
    '2027-02-01T00:00:00.000Z SubscriptionRenewed true',
  ])
  assert.deepEqual(
    rehearsal.events.of('SubscriptionRenewed').map(({ period }) => period.number),
    [1, 2],
  )
})

test('the payer’s page saves the card that is charged from then on', async () => {
  await using rehearsal = await opened({ subscriptions: { periodNoticeDays: [] } })
  const id = await sell(rehearsal)
  await rehearsal.advance('10 minutes')
  await rehearsal.declinePage(id)
  await rehearsal.advance('20 minutes')
  const card = await rehearsal.payPage(id, { behaves: 'gone' })
  assert.equal((await rehearsal.billing.subscriptions.get(id))?.paymentMethodId, card.id)
  await rehearsal.advance('1 month')
  await assertTimeline(
    rehearsal,
    id,
    `
2027-01-01 00:00  status  incomplete
                  page    199.00 UAH for 2027-01-01 00:30 - 2027-02-01 00:30: paid on 2027-01-01 00:30
                  access  no
2027-01-01 00:30  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-01 00:30  charge  199.00 UAH for 2027-02-01 00:30 - 2027-03-01 00:30: declined, no_such_card
                  status  active -> past_due (declined)
                  event   SubscriptionPaymentFailed    mail: the card cannot be charged: put in another one (pay page)
`,
  )
})

test('a length that nobody can read is refused', async () => {
  await using rehearsal = await opened()
  await assert.rejects(rehearsal.advance('a while'), { code: 'usage' })
})
