import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { BillingOptions } from '../../src/billing/options.ts'
import { developmentTools } from '../../src/cli/development-tools.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { HttpServer } from '../../src/http/serve.ts'
import { writeCounts } from '../inspect/counting.ts'
import { writeMove } from '../inspect/moves.ts'
import { issuing } from '../invoices/sellers.ts'
import { scriptedGateway, type Script } from '../money/scripted.ts'
import { startReceiver, type Receiver } from '../outbound/receiver.ts'
import { totalDays } from '../../src/upkeep/total-days.ts'
import { takesMoney } from '../subscriptions/subscribing.ts'
import { newPayment } from '../support/billing.ts'
import { embedded } from '../support/databases.ts'
import { openStated, type StatedBilling, type StatedOptions } from '../support/stated-billing.ts'
import { statedCall, stating, type Statement } from '../support/stating-gateway.ts'
import { paid } from '../support/statements.ts'
import { until } from '../support/until.ts'
import { listenTo, serveConsole, signInPath } from './console-service.ts'

/** What anybody may write where an operator reads. */
export const hostile = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(2)</script>',
  "'onfocus=alert(3) autofocus='",
  '\u{202e}txet',
  'card 4242424242424242',
].join(' ')

/** The same as a provider's id, which is shown whole: it is there to be copied. */
const hostileId = hostile.replace(/card \d+/, '')

/** A console behind a real server. */
export interface OpenConsole extends AsyncDisposable {
  readonly billing: StatedBilling
  readonly server: HttpServer
  /** As a browser of the same machine has it: without TLS, and yet trusted. */
  readonly origin: string
  /** A new link that signs in once, as the start of the service prints it. */
  link(): string
}

export async function openConsole(options: StatedOptions = {}): Promise<OpenConsole> {
  const billing = await openStated(embedded, options)
  const development = developmentTools(billing)
  const served = serveConsole(billing, { development })
  const server = await listenTo(billing, served)
  const origin = `http://localhost:${server.port}`
  return {
    billing,
    server,
    origin,
    link: () => `${origin}${signInPath}/once?key=${served.link.make()}`,
    async [Symbol.asyncDispose]() {
      await server.close(1_000)
      await billing.close()
    },
  }
}

/** What there is to look at, by id or name. */
export interface Filled {
  readonly paid: string
  readonly pending: string
  readonly call: string
  readonly failedCall: string
  readonly review: string
  /** With a note of whoever handled it. */
  readonly handledReview: string
  readonly event: string
  readonly endpoint: string
  readonly subscription: string
  readonly invoice: string
  readonly run: string
}

/** A console with something on every page. */
export async function openFilled(): Promise<OpenConsole & { readonly filled: Filled }> {
  const script: Script = {}
  takesMoney(script, { asked: [], debits: [] })
  const plan: NonNullable<BillingOptions['plans']>[string] = {
    amount: 19_900,
    currency: 'USD',
    every: 'month',
  }
  const opened = await openConsole({
    extraGateways: [stating, { ...scriptedGateway(script), chargesPerMinute: 600_000 }],
    billing: { encryptionKey: randomBytes(32).toString('base64') },
    invoices: issuing,
    plans: { pro: plan },
    listen: ({ core }) =>
      core.on('PaymentSucceeded', 'grantAccess', ({ payment }) => {
        if (payment.payable.type === 'broken') throw new Error(`no access: ${hostile}\n  at two`)
      }),
  })
  // It says no, and what it says is kept.
  const receiver = await startReceiver((_received, response) =>
    response.writeHead(400, { 'content-type': 'text/plain' }).end(hostile),
  )
  const { billing } = opened
  const payments = await fillPayments(billing)
  const filled = { ...payments, ...(await fillRest(billing, receiver)) }
  await totalDays(billing.database)
  return {
    ...opened,
    filled,
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]()
      await receiver[Symbol.asyncDispose]()
    },
  }
}

const named = {
  description: `Two chairs ${hostile}`,
  payable: { type: 'order', id: `881 ${hostile}` },
  customer: { email: `payer${hostile.replaceAll(' ', '-')}@example.com` },
}

async function fillPayments(billing: StatedBilling) {
  const { core } = billing
  const payment = await billing.create(named)
  await billing.say({ ...paid(payment), status: 'failed', declineCode: 'insufficient_funds' })
  const call = await billing.say({ ...paid(payment), providerReference: 'ch_881', note: hostile })
  const pending = await newPayment(core, named)
  const doubtful = await billing.create()
  await billing.say({ ...paid(doubtful), amount: 9_900n, providerReference: `pi_${hostileId}` })
  const [review] = (await core.reviews.list({ paymentId: doubtful.id })).data
  const [event] = (await core.events.list({ paymentId: payment.id })).data
  assert.ok(review && event)
  const failedCall = await failCall(billing)
  const refused = { ...statedCall([paid(payment)]), headers: { 'x-stated': hostile } }
  assert.notEqual((await core.receive(refused)).status, 200)
  const headers = { 'content-type': hostile, [hostile]: hostile }
  assert.equal((await core.receive({ ...refused, gateway: hostile, headers })).status, 404)
  return {
    paid: payment.id,
    pending: pending.id,
    call: call.id,
    failedCall,
    review: review.id,
    event: event.id,
  }
}

/** Its listener throws at each attempt; nobody waits for the last one. */
async function failCall({ core, database, ...billing }: StatedBilling): Promise<string> {
  const payment = await billing.create({ ...named, payable: { type: 'broken', id: hostile } })
  const statement: Statement = { ...paid(payment), amount: `${payment.amount}`, note: hostile }
  await core.receive(statedCall([statement]))
  const [call] = (await core.calls.list({ limit: 1 })).data
  assert.ok(call)
  await billing.attempted(call, 1)
  await sql`update billing.webhook_calls set state = 'failed' where id = ${call.id}::uuid`.execute(
    database.db,
  )
  return call.id
}

async function fillRest(billing: StatedBilling, receiver: Receiver) {
  const { core, database } = billing
  for (const values of [
    { accepted: 1_204, refused: 31 },
    { accepted: 87, refused: 2 },
  ]) {
    const minutesAgo = values.refused * 10
    await writeCounts(billing, 'callbacks_total', { span: 'quarter', minutesAgo, values })
  }
  receiver.secret = (await core.endpoints.create({ name: 'shop', url: receiver.url })).secret
  const handledReview = await fillRecords(billing)
  const card = newUuid()
  await sql`insert into billing.payment_methods (id, gateway, status, provider_reference)
    values (${card}::uuid, 'scripted', 'attached', ${`pm_${card}`})`.execute(database.db)
  const { subscription } = await core.subscriptions.create({
    gateway: 'scripted',
    amount: 4_999,
    currency: 'USD',
    every: 'month',
    payable: { type: 'account', id: hostile },
    paymentMethodId: card,
  })
  const owed = await billing.create(named)
  const invoice = await core.invoices.issue(owed.id)
  await billing.say(paid(owed))
  await until(async () => (await core.endpoints.attempts('shop')).data.length > 0, {
    what: 'an event was sent to the endpoint',
  })
  const run = await core.runs.start({
    id: newUuid(),
    kind: 'delivery',
    exception: hostile,
    operator: 'api',
  })
  return {
    endpoint: 'shop',
    subscription: subscription.id,
    invoice: invoice.id,
    run: run.id,
    handledReview,
  }
}

/** What operators and schedules have written. */
async function fillRecords({ core, database, ...billing }: StatedBilling): Promise<string> {
  const id = newUuid()
  const detail = { note: hostile }
  await core.operators.recordAction({
    id,
    operator: `ops ${hostile}`.slice(0, 64),
    via: 'api',
    action: 'refundPayment',
    subject: hostile,
    detail,
  })
  await core.operators.endAction(id, 'done')
  const payment = await billing.create(named)
  await billing.say({ ...paid(payment), amount: 1n, providerReference: newUuid() })
  const [review] = (await core.reviews.list({ paymentId: payment.id })).data
  assert.ok(review)
  await core.reviews.handle(review.id, { note: hostile, operator: 'olena' })
  await sql`update billing.schedules set last_error = ${hostile}`.execute(database.db)
  await writeMove({ database }, { at: new Date().toISOString(), account: hostile })
  return review.id
}
