import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { consoleSessions } from '../../src/billing/console-sessions.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { consoleApp } from '../../src/console/console-app.ts'
import type { DevelopmentTools } from '../../src/console/context.ts'
import { hostsOf, ownMachine } from '../../src/console/hosts.ts'
import { signInLimits } from '../../src/console/limits.ts'
import { oneTimeLink } from '../../src/console/one-time-link.ts'
import { createApp } from '../../src/http/app.ts'
import { listen, type HttpServer } from '../../src/http/serve.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { secret } from '../../src/kernel/secret.ts'
import type { SettingOperator } from '../../src/operators/sessions.ts'
import { maxBodyBytes, capturedLog, origin } from '../http/service.ts'
import { idle, newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import type { TestEngine } from '../support/databases.ts'
import { openBrowser, type Browser } from './browser.ts'

export const consolePath = '/billing/console'
/** So short that somebody may have chosen it, and others may guess it. */
export const shortToken = 'hunter2'
export const signInPath = `${consolePath}/sign-in`

export interface ConsoleOptions {
  readonly settings?: readonly SettingOperator[]
  /** Of the link that signs in once. */
  readonly linkSecret?: string
  readonly now?: () => Date
  readonly development?: DevelopmentTools
}

export const ofSettings = (token: string): SettingOperator => ({
  name: 'api',
  role: 'operator',
  token: secret(token),
})

/** The console as `serve` has it, over a billing that others may share. */
export function serveConsole(
  billing: Pick<TestBilling, 'core' | 'runtime'>,
  options: ConsoleOptions = {},
) {
  const { settings = [ofSettings(shortToken)], now = () => new Date() } = options
  const { linkSecret = randomBytes(16).toString('hex') } = options
  const { log, logged } = capturedLog()
  const { runtime } = billing
  const core = billing.core.forPeople()
  const link = oneTimeLink({
    operator: settings[0] ?? ofSettings(shortToken),
    secret: secret(linkSecret),
    now,
    newId: newUuid,
  })
  const app = consoleApp({
    core,
    path: consolePath,
    isHost: hostsOf([...ownMachine, new URL(core.origin).hostname, 'admin.example.test']),
    access: {
      kind: 'sessions',
      sessions: consoleSessions(runtime, settings),
      limits: signInLimits(log),
      link,
    },
    links: {},
    production: false,
    development: options.development,
    ownSettings: [],
    isEmbedded: false,
    log,
    now,
    newId: newUuid,
  })
  return { app, log, logged, link, browse: (at?: string) => openBrowser(app.fetch, at) }
}

export type ServedConsole = ReturnType<typeof serveConsole>

/** The same behind a real server, within the whole app. */
export function listenTo(
  { core }: Pick<TestBilling, 'core'>,
  { app, log }: Pick<ServedConsole, 'app' | 'log'>,
): Promise<HttpServer> {
  const whole = createApp(core, { maxBodyBytes, webhookMiddleware: [], log, subApps: [app] })
  return listen(whole, { host: '127.0.0.1', port: 0, log })
}

export async function signIn(browser: Browser, token: string): Promise<Browser> {
  const form = await browser.formAt(signInPath)
  form.set('token', token)
  const answer = await browser.press(form, signInPath)
  assert.equal(answer.status, 303, answer.text)
  return browser
}

/** A billing with an operator and a viewer. */
export async function openWithOperators(engine: TestEngine, options: BillingOptions = {}) {
  const billing = await openBilling(engine, { url: origin, ...options })
  const { operators } = billing.core
  const operator = await operators.add({ name: 'olena', role: 'operator' })
  const viewer = await operators.add({ name: 'taras', role: 'viewer' })
  return { billing, operator, viewer }
}

export async function paidPayment({ core }: TestBilling): Promise<string> {
  const { id } = await newPayment(core)
  await sendFake(core, id, 'success')
  const worker = await core.work()
  await idle(core)
  await worker.stop()
  return id
}
