import { createServer, type RequestListener } from 'node:http'
import { createRuntime } from '../../src/billing/runtime.ts'
import { billingOf, type Billing } from '../../src/create-billing.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { muchPatience } from '../support/patience.ts'
import { capturedLog, origin, ownDatabase, signingSecret } from './service.ts'

/** A billing as an app embeds it; nothing is processed. */
export interface Embedded extends AsyncDisposable {
  readonly billing: Billing
  readonly logged: readonly string[]
}

export async function embed(options: BillingOptions = {}): Promise<Embedded> {
  const { log, logged } = capturedLog()
  const own = options.database === undefined ? await ownDatabase() : undefined
  const given = {
    url: origin,
    ...(own && { database: own.database }),
    gateways: { stripe: { signing_secret: signingSecret } },
    log,
    ...options,
  }
  const billing = billingOf(createRuntime(given, { patience: muchPatience }))
  return {
    billing,
    logged,
    [Symbol.asyncDispose]: async () => {
      await billing.close()
      await own?.remove()
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
