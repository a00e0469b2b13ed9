import { createServer, type RequestListener } from 'node:http'
import { createBilling, type Billing } from '../../src/create-billing.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { migratedFolder } from '../support/embedded-template.ts'
import { capturedLog, origin, signingSecret } from './service.ts'

/** A billing as an app embeds it; nothing is processed, so that stored calls can be counted. */
export interface Embedded extends AsyncDisposable {
  readonly billing: Billing
  readonly logged: readonly string[]
  stored(): Promise<number>
}

export function embed(options: BillingOptions = {}): Embedded {
  const { log, logged } = capturedLog()
  const place = migratedFolder()
  const billing = createBilling({
    url: origin,
    database: { dataDir: place.dataDir },
    gateways: { stripe: { signing_secret: signingSecret } },
    log,
    ...options,
  })
  return {
    billing,
    logged,
    stored: async () => (await billing.calls.list({ limit: 100 })).data.length,
    [Symbol.asyncDispose]: async () => {
      await billing.close()
      place.remove()
    },
  }
}

export interface HostApp extends AsyncDisposable {
  readonly url: string
  readonly port: number
}

/** The app of somebody else on a plain server with no limits of ours. */
export async function listenWith(listener: RequestListener): Promise<HostApp> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port was opened')
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
