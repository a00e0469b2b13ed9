import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days, minutes } from '../../kernel/duration.ts'
import type { SubscriptionReply } from '../subscription-operations.ts'
import { paymentId } from '../../../test/gateways/paddle/events.ts'
import { bodyOf } from '../../../test/gateways/paddle/operations.ts'
import { begun, inDays, monthly } from '../../../test/gateways/paddle/subscriptions.ts'
import { failureOf, thrownBy } from '../../../test/providers/kit.ts'
import {
  cancelSubscription as cancel,
  pauseSubscription as pause,
  resumeSubscription as resume,
} from './subscriptions.ts'

type Life = Awaited<ReturnType<typeof begun>>

const periodEnd = new Date('2026-02-28T10:00:00.000Z')

/** Requests that would change something: one a wish. */
const changesOf = ({ provider }: Life) =>
  provider.asked
    .filter(({ asking }) => asking === 'wish')
    .map(({ request }) => [`${request.method} ${request.target}`, bodyOf(request)] as const)

const cancels = (life: Life, at: 'period_end' | 'now') =>
  cancel({ ...life.wished, at }, life.context())
const pauses = (life: Life, at: 'period_end' | 'now', until: Date | null = null) =>
  pause({ ...life.wished, at, until }, life.context())
const resumes = (life: Life) => resume(life.wished, life.context())

const planned = ({ statement: { status, cancelAt, pauseAt, resumeAt } }: SubscriptionReply) => ({
  status,
  cancelAt,
  pauseAt,
  resumeAt,
})
const asIs = { status: 'active', cancelAt: null, pauseAt: null, resumeAt: null }

test('a cancelation at the end of the period is planned, and one now is done', async (t) => {
  const life = await begun(t)
  await cancels(life, 'period_end')
  assert.deepEqual(planned(await life.read()), { ...asIs, cancelAt: periodEnd })
  await cancels(life, 'now')
  const { statement } = await life.read()
  assert.deepEqual([statement.status, statement.cancelAt], ['canceled', null])
  const path = `POST /subscriptions/${life.held.id}/cancel`
  assert.deepEqual(changesOf(life), [
    [path, { effective_from: 'next_billing_period' }],
    [path, { effective_from: 'immediately' }],
  ])
})

test('case 48: canceled, resumed and canceled again at once, each is a request of its own', async (t) => {
  const life = await begun(t)
  await cancels(life, 'period_end')
  await resumes(life)
  assert.deepEqual(planned(await life.read()), asIs)
  await cancels(life, 'period_end')
  assert.deepEqual(planned(await life.read()), { ...asIs, cancelAt: periodEnd })
  assert.equal(changesOf(life).length, 3)
  assert.deepEqual(changesOf(life)[1], [
    `PATCH /subscriptions/${life.held.id}`,
    { scheduled_change: null },
  ])
})

test('what was wished before is refused by Paddle, and is done', async (t) => {
  const life = await begun(t)
  await cancels(life, 'period_end')
  await cancels(life, 'period_end')
  await cancels(life, 'now')
  await cancels(life, 'now')
  await cancels(life, 'period_end')
  assert.equal((await life.read()).statement.status, 'canceled')
  assert.equal(changesOf(life).length, 5)
  const other = await begun(t)
  await pauses(other, 'period_end', inDays(60))
  await pauses(other, 'period_end', inDays(60))
  await resumes(other)
  await resumes(other)
  await pauses(other, 'now')
  await pauses(other, 'now')
  await pauses(other, 'period_end')
  assert.equal((await other.read()).statement.status, 'paused')
})

test('a refusal that leaves it otherwise than wished is a refusal, with what can be done', async (t) => {
  const life = await begun(t)
  await pauses(life, 'period_end')
  const locked = await thrownBy(cancels(life, 'period_end'))
  assert.equal(locked.code, 'provider_refused')
  assert.equal(locked.providerCode, 'subscription_locked_pending_changes')
  assert.match(locked.fix ?? '', /resume/)
  // Planned, but until another time.
  const other = await failureOf(pauses(life, 'period_end', inDays(60)))
  assert.equal(other.providerCode, 'subscription_locked_pending_changes')
  await cancels(life, 'now')
  const refused = { code: 'provider_refused', providerCode: 'subscription_update_when_canceled' }
  assert.deepEqual(await failureOf(resumes(life)), refused)
  assert.deepEqual(await failureOf(pauses(life, 'now')), refused)
})

test('in the half hour before a renewal Paddle changes nothing, and the refusal says so', async (t) => {
  const life = await begun(t)
  life.advance(days(28) - minutes(10))
  const error = await thrownBy(cancels(life, 'period_end'))
  assert.equal(error.providerCode, 'subscription_locked_renewal')
  assert.match(error.fix ?? '', /half hour/)
  assert.deepEqual(planned(await life.read()), asIs)
})

test('a pause at the end of the period keeps what is paid, and goes on when it was wished', async (t) => {
  const life = await begun(t)
  await pauses(life, 'period_end', inDays(60))
  const pauseAt = { ...asIs, pauseAt: periodEnd, resumeAt: inDays(60) }
  assert.deepEqual(planned(await life.read()), pauseAt)
  life.advance(days(28))
  life.provider.lives.reachPlanned(paymentId)
  const paused = await life.read()
  assert.deepEqual(planned(paused), { ...asIs, status: 'paused', resumeAt: inDays(60) })
  assert.equal(paused.statement.pauseReason, undefined)
  life.advance(days(32))
  life.provider.lives.reachPlanned(paymentId)
  const resumed = await life.read()
  assert.deepEqual(planned(resumed), asIs)
  assert.equal(resumed.outcomes.filter(({ type }) => type === 'payment').length, 2)
  assert.deepEqual(changesOf(life)[0]?.[1], {
    effective_from: 'next_billing_period',
    resume_at: inDays(60).toISOString(),
    on_resume: 'start_new_billing_period',
  })
})

test('a pause now that ends within paid time charges nothing at its end, and later does', async (t) => {
  const within = await begun(t)
  await pauses(within, 'now', inDays(10))
  within.advance(days(10))
  within.provider.lives.reachPlanned(paymentId)
  const same = await within.read()
  assert.deepEqual(same.statement.currentPeriod?.endsAt, periodEnd)
  assert.equal(same.outcomes.filter(({ type }) => type === 'payment').length, 1)
  const beyond = await begun(t)
  await pauses(beyond, 'now', inDays(40))
  const shown = [within, beyond].map((life) => changesOf(life)[0]?.[1])
  assert.deepEqual(shown, [
    {
      effective_from: 'immediately',
      resume_at: inDays(10).toISOString(),
      on_resume: 'continue_existing_billing_period',
    },
    {
      effective_from: 'immediately',
      resume_at: inDays(40).toISOString(),
      on_resume: 'start_new_billing_period',
    },
  ])
})

test('resumed within paid time the old period goes on, and after it a new one is charged', async (t) => {
  const within = await begun(t)
  await pauses(within, 'now')
  within.advance(days(5))
  await resumes(within)
  const same = await within.read()
  assert.deepEqual(planned(same), asIs)
  assert.deepEqual(same.statement.currentPeriod?.endsAt, periodEnd)
  assert.equal(same.outcomes.filter(({ type }) => type === 'payment').length, 1)
  const after = await begun(t)
  await pauses(after, 'now')
  after.advance(days(30))
  await resumes(after)
  const anew = await after.read()
  assert.deepEqual(anew.statement.currentPeriod?.startsAt, inDays(30))
  assert.equal(anew.outcomes.filter(({ type }) => type === 'payment').length, 2)
  const on = [within, after].map((life) => changesOf(life)[1]?.[1])
  assert.deepEqual(on, [
    { effective_from: 'immediately', on_resume: 'continue_existing_billing_period' },
    { effective_from: 'immediately', on_resume: 'start_new_billing_period' },
  ])
})

test('a period that was never paid does not go on for nothing after a pause', async (t) => {
  const life = await begun(t)
  life.advance(days(28))
  life.provider.lives.failRenewal(paymentId)
  life.provider.lives.giveUp(paymentId, 'pause')
  life.advance(days(1))
  await resumes(life)
  assert.deepEqual(changesOf(life)[0]?.[1], {
    effective_from: 'immediately',
    on_resume: 'start_new_billing_period',
  })
  const { statement, outcomes } = await life.read()
  assert.deepEqual(statement.currentPeriod?.startsAt, inDays(29))
  const [newest] = outcomes.filter(({ type }) => type === 'payment').slice(-1)
  assert.ok(newest?.type === 'payment' && newest.status === 'paid')
})

test('where nothing is planned or paused, resuming asks for nothing', async (t) => {
  const life = await begun(t)
  await resumes(life)
  assert.deepEqual(changesOf(life), [])
})

test('a trial is canceled at its end, and nothing is charged', async (t) => {
  const life = await begun(t, { ...monthly, trialEndsAt: inDays(14) })
  await cancels(life, 'period_end')
  assert.deepEqual(planned(await life.read()), {
    ...asIs,
    status: 'trialing',
    cancelAt: inDays(14),
  })
  life.advance(days(14))
  life.provider.lives.reachPlanned(paymentId)
  const { statement, outcomes } = await life.read()
  assert.equal(statement.status, 'canceled')
  assert.equal(outcomes.filter(({ type }) => type === 'payment').length, 1)
})

test('the official package asks for the same', async (t) => {
  const life = await begun(t)
  const { official, held } = life
  await cancels(life, 'period_end')
  await official.subscriptions.update(held.id, { scheduledChange: null })
  await official.subscriptions.cancel(held.id, { effectiveFrom: 'next_billing_period' })
  await resumes(life)
  await pauses(life, 'now', inDays(10))
  await official.subscriptions.resume(held.id, {
    effectiveFrom: 'immediately',
    onResume: 'continue_existing_billing_period',
  })
  await official.subscriptions.pause(held.id, {
    effectiveFrom: 'immediately',
    resumeAt: inDays(10).toISOString(),
    onResume: 'continue_existing_billing_period',
  })
  await resumes(life)
  const [
    ourCancel,
    theirTaking,
    theirCancel,
    ourTaking,
    ourPause,
    theirResume,
    theirPause,
    ourResume,
  ] = changesOf(life)
  assert.deepEqual(ourCancel, theirCancel)
  assert.deepEqual(ourTaking, theirTaking)
  assert.deepEqual(ourPause, theirPause)
  assert.deepEqual(ourResume, theirResume)
})

test('a request that was not answered is not repeated: what became of it is read', async (t) => {
  const life = await begun(t)
  life.provider.misbehave('wish', 'cut')
  assert.equal((await failureOf(cancels(life, 'period_end'))).code, 'provider_unreachable')
  assert.equal(changesOf(life).length, 1)
  assert.deepEqual(planned(await life.read()), { ...asIs, cancelAt: periodEnd })
  for (const how of ['garbled', 'wrong'] as const) {
    life.provider.misbehave('wish', how)
    assert.equal((await failureOf(resumes(life))).code, 'provider_reply_invalid', how)
    await cancels(life, 'period_end')
  }
  life.provider.misbehave('wish', 'refuse')
  assert.deepEqual(await failureOf(pauses(life, 'now')), {
    code: 'provider_refused',
    providerCode: 'forbidden',
  })
})

test('a subscription that Paddle does not have, or of another name, cannot be changed', async (t) => {
  const life = await begun(t)
  const gone = { ...life.wished, reference: 'sub_01000000000000000000009999' }
  const at = 'now' as const
  const missing = { code: 'provider_refused', providerCode: 'not_found' }
  assert.deepEqual(await failureOf(cancel({ ...gone, at }, life.context())), missing)
  assert.deepEqual(await failureOf(resume(gone, life.context())), missing)
  const asked = life.provider.asked.length
  const strange = { ...life.wished, reference: 'sub_1/cancel?' }
  assert.deepEqual(await failureOf(cancel({ ...strange, at }, life.context())), missing)
  assert.equal(life.provider.asked.length, asked)
})
