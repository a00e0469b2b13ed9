import type { BillingCore } from '../billing/types.ts'
import type { SignedCallback } from '../gateways/gateway.ts'
import type { Registry } from '../gateways/registry.ts'
import { systemClock } from '../kernel/clock.ts'
import { newUuid } from '../kernel/ids.ts'
import type { Payment } from '../payments/payment.ts'
import type { Configuration } from './env.ts'
import { gatewayState } from './gateway-state.ts'
import type { OpenService } from './open-service.ts'
import { print as printOut, styled } from './output.ts'
import type { ServiceAddresses } from './start-http.ts'
import { version } from './version.ts'

const samplePayable = { type: 'sample', id: '1' } as const
const sampleAmount = 1_000n
const sampleCurrency = 'UAH'

/** Hosts that mean every address of this machine. */
const everyAddress = new Set(['0.0.0.0', '::'])

/** The same for programs: one line of JSON. */
export function announceJson(
  { core }: OpenService,
  { url, shownToken, consoleUrl }: ServiceAddresses,
): void {
  const callbacks = core.webhookPaths.map((path) => `${core.origin}${path}`)
  const gateways = Object.values(core.gateways()).filter(({ configured }) => configured)
  const names = gateways.map(({ name }) => name)
  const said = {
    url,
    callbacks,
    gateways: names,
    api_token: shownToken ?? null,
    console: consoleUrl ?? null,
  }
  printOut(JSON.stringify(said))
}

type Print = (line?: string) => void

/** What a person wants to know once the service runs. */
export async function announce(
  service: OpenService,
  http: ServiceAddresses,
  print: Print = printOut,
): Promise<void> {
  const { core, configuration, runtime } = service
  print(styled('bold', `Quittance ${version}`))
  print(
    `  listening   ${http.url}${everyAddress.has(configuration.host) ? ` (${configuration.host})` : ''}`,
  )
  for (const path of core.webhookPaths) print(`  callbacks   ${core.origin}${path}`)
  print(`  database    ${databaseLine(configuration)}`)
  for (const line of gatewayLines(runtime.settings.gateways)) print(line)
  print(`  API         ${apiLine(http, configuration)}`)
  print(`  metrics     ${metricsLine(http, configuration)}`)
  if (http.consoleUrl !== undefined) print(`  console     ${consoleLine(http.consoleUrl)}`)
  await announceSample(service, http, print)
}

function databaseLine({ options }: Configuration): string {
  if (options.database.url !== undefined) {
    const { host, pathname } = new URL(options.database.url)
    return `PostgreSQL, ${host}${pathname}`
  }
  if (options.database.memory) return 'embedded, in memory'
  return `embedded, in ${options.database.dataDir}`
}

function apiLine({ url, shownToken }: ServiceAddresses, configuration: Configuration): string {
  if (shownToken === undefined) {
    return configuration.readToken === undefined
      ? `${url}/billing/api, tokens of operators: quittance operators add`
      : `${url}/billing/api, for reading alone: the token in BILLING_READ_TOKEN`
  }
  const token =
    configuration.apiToken === undefined
      ? `token of this run: ${shownToken}`
      : 'token: the one in BILLING_API_TOKEN'
  return `${url}/billing/api, ${token}`
}

function metricsLine(
  { url }: ServiceAddresses,
  { operations, options, metricsToken }: Configuration,
) {
  if (operations.port !== undefined) return `http://${operations.host}:${operations.port}/metrics`
  if (metricsToken !== undefined) return `${url}/metrics, token: the one in BILLING_METRICS_TOKEN`
  return options.production ? 'off: set BILLING_METRICS_TOKEN' : `${url}/metrics`
}

function consoleLine(url: string): string {
  return URL.parse(url)?.search === '' ? url : `${url} (signs in once, within 10 minutes)`
}

function gatewayLines(gateways: Registry): readonly string[] {
  return gateways.list().map((found, at) => {
    const label = at === 0 ? 'gateways' : ''
    return `  ${label.padEnd(10)}  ${found.gateway.name}: ${gatewayState(found)}`
  })
}

/** A pending payment and the request that settles it, for the first minute with the product. */
async function announceSample(
  { core, configuration, runtime }: OpenService,
  http: ServiceAddresses,
  print: Print,
): Promise<void> {
  if (configuration.options.production) return
  const found = runtime.settings.gateways
    .list()
    .find(({ gateway, credentials }) => gateway.verification === 'none' && credentials.configured)
  if (found?.gateway.signer === undefined) return
  const { gateway, credentials } = found
  const [scenario] = Object.keys(found.gateway.signer.scenarios)
  if (scenario === undefined) return
  const payment = await samplePayment(core, gateway.name)
  const callback = found.gateway.signer.sign({
    scenario,
    payment,
    credentials,
    now: systemClock(),
    newId: newUuid,
  })
  print()
  print(`A sample payment is pending: ${payment.id}`)
  print('This settles it:')
  print()
  print(`  ${curlCommand(`${http.url}${callbackPath(core, gateway.name)}`, callback)}`)
  print()
  print('And this shows it:')
  print()
  // Double quotes: the shell inserts a configured token.
  print(
    `  curl -H "authorization: Bearer ${http.shownToken ?? ''}" ${http.url}/billing/api/payments/${payment.id}`,
  )
  if (payment.checkoutUrl === null) return
  print()
  // If an earlier run made it, its URL may have another port.
  print(`In a browser: ${http.url}${new URL(payment.checkoutUrl).pathname}`)
}

function callbackPath(core: BillingCore, gateway: string): string {
  return new URL(core.url('billing.webhook', { gateway })).pathname
}

/** The one that an earlier run left pending, or a new one. */
async function samplePayment(core: BillingCore, gateway: string): Promise<Payment> {
  const { data } = await core.payments.list({ gateway, status: 'pending', limit: 100 })
  const left = data.find(({ payable }) => payable.type === samplePayable.type)
  return (
    left ??
    core.payments.create({
      gateway,
      amount: sampleAmount,
      currency: sampleCurrency,
      payable: samplePayable,
      description: 'A sample payment',
    })
  )
}

/** One shell line that posts the callback. */
function curlCommand(url: string, { headers, body }: SignedCallback): string {
  const fields = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  return ['curl', '-X POST', url, ...fields, `-d ${quoted(body)}`].join(' ')
}

/** Nothing inside single quotes means anything to a shell, except the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
