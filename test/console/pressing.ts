import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import { coreOf } from '../../src/billing/create-core.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { developmentTools } from '../../src/cli/development-tools.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { issuing } from '../invoices/sellers.ts'
import { scriptedGateway, type Script } from '../money/scripted.ts'
import { startReceiver, type Receiver } from '../outbound/receiver.ts'
import { takesMoney } from '../subscriptions/subscribing.ts'
import { unhurried } from '../support/billing.ts'
import type { TestEngine } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { stating } from '../support/stating-gateway.ts'
import type { Answer, Browser } from './browser.ts'
import { consolePath, serveConsole, signIn } from './console-service.ts'

/** One service in two processes where the database allows it, and what its provider was asked. */
export interface Pressing {
  readonly billing: StatedBilling
  readonly receiver: Receiver
  /** How often the provider was asked for each of these. */
  readonly asked: Record<'poll' | 'refund' | 'registration', number>
  /** One operator’s, signed in, at each of the two. */
  browsers(): Promise<readonly [Browser, Browser]>
  formOf(browser: Browser, path: string): Promise<URLSearchParams>
  press(browser: Browser, form: URLSearchParams, path: string): Promise<Answer>
  /** Names of what is recorded under the id of the form. */
  recorded(id: string): Promise<readonly string[]>
  count(query: RawBuilder<{ readonly count: number }>): Promise<number>
  card(): Promise<string>
  close(): Promise<void>
}

export async function openPressing(engine: TestEngine): Promise<Pressing> {
  const asked = { poll: 0, refund: 0, registration: 0 }
  const options = optionsOf(asked)
  const billing = await openStated(engine, options)
  const receiver = await startReceiver()
  const { url } = billing
  const runtime =
    url === undefined ? undefined : createRuntime({ ...options, database: { url } }, unhurried)
  const further = runtime && { core: coreOf(runtime), runtime }
  const { token } = await billing.core.operators.add({ name: 'olena', role: 'operator' })
  const [first, second] = [billing, further ?? billing].map((process) =>
    serveConsole(process, { development: developmentTools(process) }),
  )
  assert.ok(first && second)
  const [one, other] = [first.browse(), second.browse()]
  const { db } = billing.database
  return {
    billing,
    receiver,
    asked,
    browsers: async () => {
      // Who tries too often is kept out; one of the forms signs out.
      if ((await one.open(consolePath)).status !== 200) await signIn(one, token)
      for (const [name, value] of one.cookies) other.cookies.set(name, value)
      return [one, other]
    },
    formOf: (browser, path) =>
      browser.formAt(consolePath + path, consolePath + (path.split('?')[0] ?? '')),
    press: (browser, form, path) => browser.press(form, consolePath + (path.split('?')[0] ?? '')),
    recorded: async (id) => (await recordedActions(billing.core, id)).map(({ action }) => action),
    count: async (query) => (await query.execute(db)).rows[0]?.count ?? 0,
    card: async () => {
      const id = newUuid()
      await sql`insert into billing.payment_methods (id, gateway, status, provider_reference)
        values (${id}::uuid, 'scripted', 'attached', ${`pm_${id}`})`.execute(db)
      return id
    },
    close: async () => {
      await further?.core.close()
      await billing.close()
      await receiver[Symbol.asyncDispose]()
    },
  }
}

async function recordedActions(core: BillingCore, id: string) {
  const { data } = await core.operators.actions({})
  return data.filter((one) => one.id === id)
}

function optionsOf(asked: Pressing['asked']): BillingOptions {
  const script: Script = {}
  takesMoney(script, { asked: [], debits: [] })
  const { poll } = script
  script.poll = async (...given) => {
    asked.poll += 1
    assert.ok(poll)
    return poll(...given)
  }
  script.refund = async () => {
    asked.refund += 1
    return { status: 'paid', reference: `re_${asked.refund}` }
  }
  const registering: Gateway = {
    ...stating,
    name: 'registering',
    webhook_requires_dashboard_setup: true,
    registration: {
      events: ['paid'],
      secretField: 'key',
      notes: [],
      list: async () => {
        asked.registration += 1
        return []
      },
      create: () => Promise.reject(new Error('not here')),
      update: () => Promise.reject(new Error('not here')),
      remove: () => Promise.reject(new Error('not here')),
    },
  }
  const plan = { amount: 19_900, currency: 'USD', every: 'month' } as const
  return {
    extraGateways: [
      stating,
      registering,
      { ...scriptedGateway(script), chargesPerMinute: 600_000 },
    ],
    billing: { encryptionKey: randomBytes(32).toString('base64') },
    invoices: issuing,
    plans: { pro: plan, plus: { ...plan, amount: 29_900 } },
  }
}
