import type { NewSubscription, SubscriptionPolicy } from '../../../src/subscriptions/change.ts'
import type { Interval } from '../../../src/subscriptions/subscription.ts'
import { days, hours } from '../../../src/kernel/duration.ts'
import type { Dice } from './dice.ts'
import type { Mood } from './provider.ts'

/** What a seed makes of a run, before it begins. */
export interface Life {
  readonly input: NewSubscription
  readonly policy: SubscriptionPolicy
  readonly startsAt: number
  readonly endsAt: number
  readonly mood: Mood
  /** How often, of 1, something goes wrong at a cut, an answer, a time. */
  readonly trouble: number
  /** How often, of 1, a wish is made on a day on which one may be. */
  readonly wishes: number
  readonly hasRestores: boolean
}

export function lifeOf(seed: number, dice: Dice): Life {
  const every = dice.pick<Interval>([
    { unit: 'month', count: 1 },
    { unit: 'month', count: 1 },
    { unit: 'month', count: 3 },
    { unit: 'week', count: 1 },
    { unit: 'week', count: 4 },
    { unit: 'year', count: 1 },
    { unit: 'day', count: 30 },
    { unit: 'day', count: 1 + dice.below(10) },
  ])
  const startsAt = Date.UTC(
    2024 + dice.below(6),
    dice.below(12),
    1 + dice.below(31),
    dice.below(24),
  )
  // Short periods make many of them in less time.
  const years = every.unit === 'day' && every.count < 7 ? 1 : 1 + dice.below(5)
  return {
    input: inputOf(seed, dice, { every, startsAt }),
    policy: {
      retryDays: dice.pick([[1, 3, 5, 7], [1, 3, 5, 7], [2], []]),
      onUnpaid: dice.pick(['cancel', 'cancel', 'pause']),
      trialNoticeDays: dice.pick([[3], [1, 7], []]),
      periodNoticeDays: dice.pick([[3], [1, 7], []]),
      incompleteHours: dice.pick([24, 1, 72]),
    },
    startsAt,
    endsAt: startsAt + days(365 * years),
    mood: { paid: dice.pick([1, 0.95, 0.8, 0.5]), ours: dice.pick([0, 0, 0.05, 0.3]) },
    trouble: dice.pick([0, 0.02, 0.1, 0.3]),
    wishes: dice.pick([0, 0.1, 0.5, 1]),
    hasRestores: dice.chance(0.15),
  }
}

function inputOf(
  seed: number,
  dice: Dice,
  { every, startsAt }: { every: Interval; startsAt: number },
): NewSubscription {
  const begin = dice.pick(['now', 'now', 'trial', 'brought'])
  const isFree = dice.chance(0.05)
  return {
    id: `01900000-0000-7000-8000-${seed.toString(16).padStart(12, '0')}`,
    managedBy: 'local',
    gateway: 'fake',
    merchantAccount: null,
    live: null,
    plan: 'basic',
    payable: { type: 'account', id: '1' },
    description: null,
    customer: null,
    metadata: null,
    amount: isFree ? 0n : 500n,
    currency: 'USD',
    every,
    timeZone: dice.pick(['UTC', 'Europe/Kyiv', 'America/New_York', 'Australia/Lord_Howe']),
    paymentMethodId: dice.chance(0.8) ? 'card 0' : null,
    graceAccess: dice.chance(0.6),
    trialEndsAt: begin === 'trial' ? new Date(startsAt + days(1 + dice.below(30))) : null,
    paidUntil: begin === 'brought' ? new Date(startsAt + hours(1 + dice.below(1000))) : null,
  }
}
