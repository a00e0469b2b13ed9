import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { testType } from '../../src/outbound/send-test.ts'
import { newPayment } from '../support/billing.ts'
import { paid } from '../support/statements.ts'
import { until } from '../support/until.ts'
import type { Pressing } from './pressing.ts'

/** A form that can be sent, and what it does: each of these counts grows by one, once. */
export interface Press {
  readonly path: string
  readonly typed?: Readonly<Record<string, string>>
  readonly counted: () => Promise<readonly number[]>
  /** What is asked for cannot be had, and that is said once. */
  readonly fails?: boolean
}

const counts = (...all: readonly (() => number | Promise<number>)[]) => ({
  counted: () => Promise.all(all.map(async (one) => one())),
})

const paidAt = async ({ billing }: Pressing, gateway: string) => {
  const payment = await billing.create({ gateway })
  const call = await billing.sayBy(gateway, { ...paid(payment), providerReference: newUuid() })
  return { payment, call }
}

/** How many payments, refunds included, there are. */
const payments = (world: Pressing) => () =>
  world.count(sql`select count(*)::int as count from billing.payments`)

const ofPayments: Record<string, (world: Pressing) => Promise<Press>> = {
  '/payments/new': async (world) => ({
    path: '/payments/new',
    typed: { gateway: 'fake', amount: '19.99', currency: 'USD', order: '7' },
    ...counts(payments(world)),
  }),
  '/payments/:id/ask': async (world) => {
    const { id } = await world.billing.create({ gateway: 'scripted' })
    return { path: `/payments/${id}/ask`, ...counts(() => world.asked.poll) }
  },
  '/payments/:id/cancel': async (world) => {
    const { id } = await newPayment(world.billing.core)
    const moves = () =>
      world.count(sql`select count(*)::int as count from billing.payment_transitions
        where payment_id = ${id}::uuid`)
    return { path: `/payments/${id}/cancel`, ...counts(moves) }
  },
  '/payments/:id/refund': async (world) => {
    const { payment } = await paidAt(world, 'scripted')
    const returned = async () => Number((await world.billing.details(payment)).refunded) / 1_000
    return {
      path: `/payments/${payment.id}/refund`,
      typed: { amount: '10' },
      ...counts(() => world.asked.refund, payments(world), returned),
    }
  },
  '/gateways/:name/test': async (world) => {
    const { id } = await newPayment(world.billing.core)
    return {
      path: '/gateways/fake/test',
      typed: { scenario: 'success', payment: id },
      ...counts(() => world.count(sql`select count(*)::int as count from billing.webhook_calls`)),
    }
  },
  '/gateways/:name/registration': async (world) => ({
    path: '/gateways/registering/registration',
    ...counts(() => world.asked.registration),
  }),
}

/** As if its listeners had failed for good; so many attempts are left that it counts again. */
async function failedCall(world: Pressing): Promise<string> {
  const { call } = await paidAt(world, 'stating')
  await sql`update billing.webhook_calls set state = 'failed', attempts = 3
    where id = ${call.id}::uuid`.execute(world.billing.database.db)
  return call.id
}

/** Whether it was put back and has ended well. */
async function processed(world: Pressing, id: string): Promise<number> {
  await world.billing.retry()
  return (await world.billing.core.calls.get(id))?.state === 'processed' ? 1 : 0
}

const stateOfCall = (world: Pressing, id: string) => async () => {
  const call = await world.billing.core.calls.get(id)
  // As it is left for the button: nothing has begun.
  return call?.state === 'failed' ? 0 : processed(world, id)
}

const ofCalls: Record<string, (world: Pressing) => Promise<Press>> = {
  '/calls/replay': async (world) => {
    const [one, other] = [await failedCall(world), await failedCall(world)]
    return {
      path: `/calls/replay?call=${one}&call=${other}`,
      ...counts(stateOfCall(world, one), stateOfCall(world, other)),
    }
  },
  '/calls/:id/replay': async (world) => {
    const id = await failedCall(world)
    return { path: `/calls/${id}/replay`, ...counts(stateOfCall(world, id)) }
  },
  '/reviews/:id/handle': async (world) => {
    const payment = await world.billing.create()
    await world.billing.say({ ...paid(payment), amount: 1n, providerReference: newUuid() })
    const [review] = (await world.billing.core.reviews.list({ paymentId: payment.id })).data
    assert.ok(review)
    const version = async () => (await world.billing.core.reviews.get(review.id))?.version ?? 0
    return { path: `/reviews/${review.id}/handle`, typed: { note: 'seen' }, ...counts(version) }
  },
  '/runs/new': async (world) => ({
    path: '/runs/new',
    typed: { kind: 'delivery' },
    ...counts(() => world.count(sql`select count(*)::int as count from billing.runs`)),
  }),
  '/runs/:id/stop': async (world) => {
    const { id } = await world.billing.core.runs.start({
      id: newUuid(),
      kind: 'delivery',
      operator: 'olena',
    })
    const ended = async () => ((await world.billing.core.runs.get(id))?.state === 'running' ? 0 : 1)
    await sql`update billing.runs set state = 'running', finished_at = null,
      lease_token = ${newUuid()}::uuid, lease_until = now() + interval '1 hour'
      where id = ${id}::uuid`.execute(world.billing.database.db)
    return { path: `/runs/${id}/stop`, ...counts(ended) }
  },
  '/settings/sign-out': async (world) => ({
    path: '/settings/sign-out',
    ...counts(() =>
      world.count(sql`select (count(*) = 0)::int as count from billing.operator_sessions`),
    ),
  }),
}

interface SubscriptionPress extends Partial<Press> {
  /** The end of its path. */
  readonly to: string
  /** Of its row: false before, true after. */
  readonly until?: string
}

/** A form of a new subscription. */
async function ofSubscription(world: Pressing, { to, until: isDone, ...more }: SubscriptionPress) {
  const { subscription } = await world.billing.core.subscriptions.create({
    gateway: 'scripted',
    amount: 4_999,
    currency: 'USD',
    every: 'month',
    payable: { type: 'account', id: newUuid() },
    paymentMethodId: await world.card(),
  })
  const { id } = subscription
  const done = () =>
    world.count(sql`select (${sql.raw(isDone ?? 'false')})::int as count
      from billing.subscriptions where id = ${id}::uuid`)
  const counted = isDone === undefined ? async () => [] : counts(done).counted
  return { id, path: `/subscriptions/${id}/${to}`, counted, ...more }
}

const atEnd = { at: 'period_end' }

const ofSubscriptions: Record<string, (world: Pressing) => Promise<Press>> = {
  '/subscriptions/:id/cancel': (world) =>
    ofSubscription(world, { to: 'cancel', until: 'cancel_at is not null', typed: atEnd }),
  '/subscriptions/:id/pause': (world) =>
    ofSubscription(world, { to: 'pause', until: 'pause_at is not null', typed: atEnd }),
  '/subscriptions/:id/resume': async (world) => {
    const press = await ofSubscription(world, { to: 'resume', until: 'pause_at is null' })
    await world.billing.core.subscriptions.pause(press.id, { at: 'period_end' })
    return press
  },
  '/subscriptions/:id/change': (world) =>
    ofSubscription(world, {
      to: 'change',
      until: `plan = 'pro' or next_terms::text like '%pro%'`,
      typed: { plan: 'pro' },
    }),
  // Nobody but us manages it.
  '/subscriptions/:id/sync': (world) => ofSubscription(world, { to: 'sync', fails: true }),
  '/invoices/:id/void': async (world) => {
    const { id } = await world.billing.core.invoices.issue((await world.billing.create()).id)
    const isVoid = async () =>
      (await world.billing.core.invoices.get(id))?.status === 'void' ? 1 : 0
    return { path: `/invoices/${id}/void`, ...counts(isVoid) }
  },
}

const newEndpoint = async (world: Pressing) => {
  const name = `e${newUuid().slice(-12)}`
  const { secret } = await world.billing.core.endpoints.create({ name, url: world.receiver.url })
  world.receiver.secret = secret
  const revision = () =>
    world.count(sql`select revision as count from billing.endpoints where name = ${name}`)
  return { name, revision }
}

const ofEndpoints: Record<string, (world: Pressing) => Promise<Press>> = {
  '/endpoints/_new': async (world) => ({
    path: '/endpoints/_new',
    typed: { name: `n${newUuid().slice(-12)}`, url: world.receiver.url },
    ...counts(() => world.count(sql`select count(*)::int as count from billing.endpoints`)),
  }),
  '/endpoints/:name/enable': async (world) => {
    const { name, revision } = await newEndpoint(world)
    await world.billing.core.endpoints.disable(name)
    return { path: `/endpoints/${name}/enable`, ...counts(revision) }
  },
  '/endpoints/:name/disable': async (world) => {
    const { name } = await newEndpoint(world)
    const isOff = () =>
      world.count(sql`select (not enabled)::int as count from billing.endpoints
        where name = ${name}`)
    return { path: `/endpoints/${name}/disable`, ...counts(isOff) }
  },
  '/endpoints/:name/test': async (world) => {
    const { name } = await newEndpoint(world)
    const sent = () => world.receiver.received.filter(({ event }) => event.type === testType).length
    return { path: `/endpoints/${name}/test`, ...counts(sent) }
  },
  '/endpoints/:name/replay': async (world) => {
    const { name, revision } = await newEndpoint(world)
    return {
      path: `/endpoints/${name}/replay`,
      typed: { since: '2099-01-01T00:00' },
      ...counts(revision),
    }
  },
  '/endpoints/:name/rotate-secret': async (world) => {
    const { name, revision } = await newEndpoint(world)
    return { path: `/endpoints/${name}/rotate-secret`, ...counts(revision) }
  },
  '/endpoints/:name/remove': async (world) => {
    const { name } = await newEndpoint(world)
    const isGone = () =>
      world.count(sql`select (count(*) = 0)::int as count from billing.endpoints
        where name = ${name}`)
    return { path: `/endpoints/${name}/remove`, ...counts(isGone) }
  },
  '/events/:id/resend': async (world) => {
    const { payment } = await paidAt(world, 'stating')
    const eventOf = async () =>
      (await world.billing.core.events.list({ paymentId: payment.id })).data[0]
    await until(async () => (await eventOf())?.position != null, { what: 'it is fed' })
    const { name } = await newEndpoint(world)
    const id = (await eventOf())?.id ?? ''
    const sent = async () => {
      const { attempts, forwards } = await world.billing.core.events.history(id)
      // Endpoints of other forms are sent every event meanwhile, and their requests are written late.
      const own = [attempts, forwards].map(
        (all) => all.filter((one) => one.endpoint === name).length,
      )
      return Math.max(...own)
    }
    return { path: `/events/${id}/resend`, typed: { endpoint: name }, ...counts(sent) }
  },
}

/** By the path of its route, something that each form of the console can be sent for. */
export const presses = { ...ofPayments, ...ofCalls, ...ofSubscriptions, ...ofEndpoints }
