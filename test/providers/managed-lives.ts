import type { SignedCallback } from '../../src/gateways/gateway.ts'
import { days } from '../../src/kernel/duration.ts'
import { startPaddle } from './paddle.ts'
import type { ProviderStandIn } from './provider-stand-in.ts'
import { paddleLedger, stripeLedger, type Ledger } from './ledger.ts'
import { startStripe } from './stripe.ts'
import type { Managed } from './stripe/subscription.ts'

/** A provider that manages subscriptions, and what becomes of them there; named by their payments. */
export interface ManagedLives {
  readonly provider: ProviderStandIn
  /** The provider's own time, as far as it is not now. */
  readonly clock: { now: Date | undefined }
  /** The callbacks about a payment and what it has begun, all that were not given before. */
  callbacks(paymentId: string): readonly SignedCallback[]
  renew(paymentId: string): void
  /** What this provider does besides. */
  /** The charge does not say for which time it is. */
  renewUndated?(paymentId: string): void
  changePlan?(paymentId: string, plan: Pick<Managed, 'every' | 'amount'>): void
  /** A day more of the period that it is in. */
  extend?(paymentId: string): void
  ledger(paymentId: string): Ledger
  /** The next period is charged, or what is owed is tried again: in vain. */
  failRenewal(paymentId: string): void
  /** What is owed is paid. */
  recover(paymentId: string): void
  /** No try is left: it ends. */
  giveUp(paymentId: string): void
  /** Somebody ends it in the dashboard. */
  end(paymentId: string): void
}

export async function stripeLives(): Promise<ManagedLives> {
  const clock: ManagedLives['clock'] = { now: undefined }
  const provider = await startStripe({ now: () => clock.now ?? new Date() })
  const { lives } = provider
  const declined = { declined: 'insufficient_funds' }
  const given = new Map<string, number>()
  let undated = 0
  return {
    provider,
    clock,
    callbacks: (paymentId) => {
      const all = provider.callbacks(paymentId)
      const fresh = all.slice(given.get(paymentId))
      given.set(paymentId, all.length)
      return fresh
    },
    renew: (id) => lives.renew(lives.of(id)),
    renewUndated: (id) => {
      undated += 1
      lives.renew(lives.of(id), 'paid', undated % 2 === 0 ? 'mixed' : 'prorations')
    },
    changePlan: (id, plan) => lives.changePlan(lives.of(id), plan),
    ledger: (id) => stripeLedger(lives, id),
    failRenewal: (id) => {
      const managed = lives.of(id)
      if (managed.status === 'past_due') lives.retry(managed, declined)
      else lives.renew(managed, declined)
    },
    recover: (id) => lives.retry(lives.of(id), 'paid'),
    giveUp: (id) => lives.giveUp(lives.of(id), 'canceled'),
    end: (id) => lives.end(lives.of(id)),
  }
}

export async function paddleLives(): Promise<ManagedLives> {
  const clock: ManagedLives['clock'] = { now: undefined }
  const provider = await startPaddle()
  const { account, lives } = provider
  const now = () => clock.now ?? new Date()
  account.now = now
  return {
    provider,
    clock,
    callbacks: () => {
      // They are signed when they are sent.
      account.now = () => new Date()
      const taken = provider.takeCallbacks()
      account.now = now
      return taken
    },
    renew: (id) => void lives.renew(id),
    extend: (id) => lives.extend(id, 1),
    ledger: (id) => paddleLedger(account, id),
    failRenewal: (id) => void lives.failRenewal(id),
    recover: lives.recover,
    giveUp: (id) => lives.giveUp(id, 'cancel'),
    end: (id) => lives.giveUp(id, 'cancel'),
  }
}

export const managedLives = [
  ['stripe', stripeLives],
  ['paddle', paddleLives],
] as const

/** Daily ones have begun so long ago, so that all of their lives is past, and still listed. */
export const longAgo = days(10)
