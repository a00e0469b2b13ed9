import type { BillingCore } from '../billing/types.ts'
import { days, hours } from '../kernel/duration.ts'
import type { RehearsalPlay } from './rehearsal.ts'
import type { CardBehavior, WhichCharges } from './script-cards.ts'

/** A subscription on stage, and until when it is played. */
export interface Stage {
  readonly play: RehearsalPlay
  readonly core: Pick<BillingCore, 'subscriptions'>
  readonly id: string
}

/** What happens to a subscription besides the passing of time. */
export interface Story {
  readonly description: string
  /** How the customer's card ends charges; left out: it pays. Null: there is no card. */
  readonly card?: CardScript | null
  /** What else happens, until the time is left to go by. */
  act?(stage: Stage): Promise<void>
}

export interface CardScript extends WhichCharges {
  readonly behaves: CardBehavior
}

/** The second charge ends like this, and those after it: the first renewal, if there is no trial. */
const second = (behaves: CardBehavior, times?: number): CardScript => ({
  behaves,
  after: 1,
  ...(times !== undefined && { times }),
})

export const stories = {
  paid: { description: 'every charge is paid' },
  'declined-then-paid': {
    description: 'the second charge is declined twice for want of money, then paid',
    card: second('soft', 2),
  },
  declined: {
    description: 'the second charge is declined for want of money, to the end',
    card: second('soft'),
  },
  stolen: {
    description: 'the card is reported stolen; two days later the payer pays with another one',
    card: second('hard'),
    act: async (stage) => {
      await toRenewal(stage, days(2))
      await payOwed(stage)
    },
  },
  confirmed: {
    description:
      'the bank wants the payer to confirm the second charge, who does so 20 hours later',
    card: second('confirm', 1),
    act: async (stage) => {
      await toRenewal(stage, hours(20))
      await payOwed(stage)
    },
  },
  'no-card': {
    description: 'the customer never puts in a card',
    card: null,
  },
  canceled: {
    description: 'the customer cancels a day after the first renewal',
    act: async (stage) => {
      await toRenewal(stage, days(1))
      await stage.core.subscriptions.cancel(stage.id)
    },
  },
  paused: {
    description: 'it is paused a day after the first renewal, and resumed 45 days later',
    act: async (stage) => {
      await toRenewal(stage, days(1))
      await stage.core.subscriptions.pause(stage.id)
      await stage.play.advance('45 days')
      await stage.core.subscriptions.resume(stage.id)
    },
  },
  unanswered: {
    description: 'the provider does not answer the second charge, which it has made',
    card: second('cut', 1),
  },
  'expired-key': {
    description: 'the provider refuses our API key for the second charge, once',
    card: second('refused', 1),
  },
  downtime: {
    description: 'the service is down for a week, from two days before the first renewal',
    act: async (stage) => {
      await toRenewal(stage, -days(2))
      await stage.play.downtime('7 days')
    },
  },
} as const satisfies Record<string, Story>

export type StoryName = keyof typeof stories

/** Up to the end of the first paid period, and so much further. */
async function toRenewal({ play, core, id }: Stage, further: number): Promise<void> {
  const first = await core.subscriptions.get(id)
  if (first?.status === 'trialing' && first.trialEndsAt !== null) {
    await play.advance(first.trialEndsAt)
  }
  const paid = await core.subscriptions.get(id)
  if (paid === undefined || paid.paidUntil === null) return
  await play.advance(new Date(paid.paidUntil.getTime() + further))
}

/** By then it may cost nothing, or have ended: as the terms and settings say. */
async function payOwed({ play, core, id }: Stage): Promise<void> {
  const bill = await core.subscriptions.bill(id)
  if (bill?.owed != null) await play.payPage(id)
}
