import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import type { CreateSubscriptionInput } from '../../src/money/subscription-input.ts'
import type { RehearsalPlay } from '../../src/rehearsal/rehearsal.ts'
import type { CardBehavior, WhichCharges } from '../../src/rehearsal/script-cards.ts'
import { rehearse, type Rehearsal } from '../../src/testing/index.ts'
import { playTogether, type Act } from './one-clock.ts'
import { timelines, type What } from './timelines.ts'

/** What listeners have heard, with the time of the rehearsal. */
const heard: string[] = []
let failures = 1
let rehearsal: Rehearsal

/** All acts are on this one: opening a rehearsal costs more than months of many subscriptions. */
function open(): Promise<Rehearsal> {
  return rehearse({
    subscriptions: { retryDays: [1, 4], periodNoticeDays: [] },
    listeners: {
      followTrial: {
        on: ['TrialWillEnd', 'SubscriptionRenewed'],
        run: ({ type, subscription }) => {
          if (subscription.payable.id !== 'trial') return
          if (type === 'TrialWillEnd' && failures-- > 0) throw new Error('no mail today')
          heard.push(`${rehearsal.now().toISOString()} ${type} ${subscription.access}`)
        },
      },
      hearQuotas: {
        on: ['SubscriptionQuotaReset', 'UsageLimitReached'],
        run: ({ type, quota }) => void heard.push(`${quota} ${type}`),
      },
    },
  })
}

/** A subscription of 199.00 UAH a month for this account, unless the fields differ. */
async function sell(account: string, fields: Partial<CreateSubscriptionInput> = {}) {
  const { subscription } = await rehearsal.billing.subscriptions.create({
    gateway: 'fake',
    payable: { type: 'account', id: account },
    amount: 19900,
    currency: 'UAH',
    every: 'month',
    ...fields,
  })
  return subscription.id
}

/** What a subscription has that is charged by such a card. */
async function paying(behavior: CardBehavior = 'paid', charges: WhichCharges = {}) {
  const card = await rehearsal.saveCard()
  card.behaves(behavior, charges)
  return { paymentMethodId: card.id }
}

type Acts = Readonly<Record<Exclude<What, 'downtime'> | 'quotas', Act<string>>>

/** Each plays, and returns whose timeline it is. */
const acts: Acts = {
  trial: async (play) => {
    const id = await sell('trial', { trialDays: 14, ...(await paying()) })
    await play.advance('15 days')
    assert.equal(play.now().toISOString(), '2027-01-16T00:00:00.000Z')
    return id
  },
  soft: async (play) => {
    const id = await sell('soft', { graceAccess: false, ...(await paying('soft', { after: 1 })) })
    await play.advance('2 months')
    return id
  },
  hard: async (play) => {
    const id = await sell('hard', await paying('hard', { after: 1 }))
    await play.advance('1 month')
    await play.advance('36 hours')
    const other = await play.saveCard()
    await rehearsal.billing.subscriptions.change(id, { paymentMethodId: other.id })
    await play.advance('1 day')
    return id
  },
  shortMonths: async (play) => {
    await play.advance(new Date('2027-01-31T12:00:00Z'))
    const id = await sell('shortMonths', await paying())
    await play.advance(new Date('2027-05-01T00:00:00Z'))
    return id
  },
  zone: async (play) => {
    await play.advance(new Date('2027-02-28T22:00:00Z'))
    const id = await sell('zone', { timeZone: 'Europe/Kyiv', ...(await paying()) })
    await play.advance('2 months')
    return id
  },
  pause: async (play) => {
    const id = await sell('pause', await paying())
    await play.advance('10 days')
    await rehearsal.billing.subscriptions.pause(id, { until: new Date('2027-03-10T00:00:00Z') })
    await play.advance('3 months')
    return id
  },
  confirm: async (play) => {
    const id = await sell('confirm', await paying('confirm', { after: 1, times: 1 }))
    await play.advance('1 month')
    await play.advance('5 hours')
    await play.payPage(id)
    await play.advance('1 month')
    return id
  },
  unanswered: async (play) => {
    const id = await sell('unanswered', await paying('cut', { after: 1, times: 1 }))
    await play.advance('40 days')
    return id
  },
  page: async (play) => {
    const id = await sell('page')
    await play.advance('10 minutes')
    await play.declinePage(id)
    await play.advance('20 minutes')
    const card = await play.payPage(id, { behaves: 'gone' })
    const { subscriptions } = rehearsal.billing
    assert.equal((await subscriptions.get(id))?.paymentMethodId, card.id)
    await play.advance('1 month')
    return id
  },
  quotas: async (play) => {
    const quotas = { api_calls: { limit: 5 }, exports: { limit: 5, every: 'week' } } as const
    const id = await sell('quotas', { quotas, ...(await paying()) })
    const { usage } = rehearsal.billing
    await usage.record({ subscriptionId: id, quota: 'api_calls', units: 5, key: newUuid() })
    await play.advance('15 days')
    const ofQuotas = () => heard.filter((one) => !/^[0-9]/.test(one))
    assert.deepEqual(ofQuotas(), [
      'api_calls UsageLimitReached',
      'exports SubscriptionQuotaReset',
      'exports SubscriptionQuotaReset',
    ])
    // A month is over by then.
    await play.advance('20 days')
    const renewed = ofQuotas().filter((one) => one === 'api_calls SubscriptionQuotaReset')
    assert.equal(renewed.length, 1)
    assert.equal((await usage.get(id, 'api_calls'))?.left, 5n)
    return id
  },
}

/** Its timeline at the end of its act; no later act charges it. */
async function timelineAfter(act: Act<string>, play: RehearsalPlay): Promise<string> {
  const id = await act(play)
  const { text } = await rehearsal.timeline(id)
  const { subscriptions } = rehearsal.billing
  const found = await subscriptions.get(id)
  if (found?.status !== 'canceled') await subscriptions.cancel(id, { at: 'now' })
  return text
}

describe('a rehearsal', () => {
  let played: ReadonlyMap<string, Promise<string>>
  before(async () => {
    rehearsal = await open()
    const timed = Object.entries(acts).map(
      ([name, act]) => [name, (play: RehearsalPlay) => timelineAfter(act, play)] as const,
    )
    played = await playTogether(rehearsal, Object.fromEntries(timed))
    await Promise.allSettled(played.values())
  })
  after(() => rehearsal.close())

  for (const name of Object.keys(acts) as (keyof Acts)[]) {
    if (name === 'quotas') continue
    const { what, text } = timelines[name]
    test(what, async () => {
      assert.equal(await played.get(name), text.trim())
    })
  }

  test('windows of quotas are moved at their time, with renewals', async () => {
    await played.get('quotas')
  })

  test('listeners run at the time of their events, and a thrower is tried again in that time', async () => {
    await played.get('trial')
    assert.deepEqual(
      heard.filter((one) => one.includes('T')),
      [
        '2027-01-12T00:00:10.000Z TrialWillEnd true',
        '2027-01-15T00:00:00.000Z SubscriptionRenewed true',
      ],
    )
    const renewals = rehearsal.events.of('SubscriptionRenewed')
    assert.deepEqual(
      renewals
        .filter(({ subscription }) => subscription.payable.id === 'pause')
        .map(({ period }) => period.number),
      [1, 2, 3],
    )
  })

  test('a length that nobody can read is refused', async () => {
    await assert.rejects(rehearsal.advance('a while'), { code: 'usage' })
  })

  test(`${timelines.downtime.what}; a planned end takes access at its time all the same`, async () => {
    await rehearsal.advance(new Date('2027-06-01T00:00:00Z'))
    const ending = await sell('ending', await paying())
    await rehearsal.billing.subscriptions.cancel(ending)
    const trial = await sell('unpaid trial', { trialDays: 32 })
    await rehearsal.advance(new Date('2027-06-29T00:00:00Z'))
    const id = await sell('downtime', { every: '2 days', ...(await paying()) })
    await rehearsal.advance('1 day')
    await rehearsal.downtime('7 days')
    await rehearsal.advance('1 day')
    assert.equal((await rehearsal.timeline(id)).text, timelines.downtime.text.trim())
    const access = async (one: string) =>
      (await rehearsal.timeline(one)).entries
        .filter(({ kind }) => kind === 'access')
        .map(({ at, text }) => `${at.toISOString().slice(0, 10)} ${text}`)
    assert.deepEqual(await access(ending), ['2027-06-01 yes', '2027-07-01 no'])
    assert.deepEqual(await access(trial), ['2027-06-01 yes', '2027-07-03 no'])
  })
})
