import { coreOf } from '../../src/billing/create-core.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import type { Database } from '../../src/database/connect.ts'
import { createApp } from '../../src/http/app.ts'
import { listen } from '../../src/http/serve.ts'
import { secret } from '../../src/kernel/secret.ts'
import { capturedLog } from '../support/captured-log.ts'
import { postgres, type TestEngine } from '../support/databases.ts'
import { openTestEmbedded } from '../support/embedded-template.ts'
import { muchPatience } from '../support/patience.ts'
import { vaultGateway, vaultHeaders, vaultSecret, type Vault } from './vault-gateway.ts'

const apiToken = 'test-token-for-the-management-api'

/** A database that services are opened on, one after the other. */
export interface VaultDatabase {
  /** What a command needs to find it. */
  readonly env: Readonly<Record<string, string>>
  open(options?: OpenOptions): Promise<VaultService>
  remove(): Promise<void>
}

export interface OpenOptions {
  /** BILLING_ENCRYPTION_KEY. */
  readonly key?: string
  readonly connection?: 'database' | 'sync'
}

/** The real core behind the real server, with the vault gateway. */
export interface VaultService extends AsyncDisposable {
  readonly core: BillingCore
  readonly database: Database
  readonly tokens: Vault['tokens']
  readonly logged: () => string
  /** Signs and posts a callback. */
  post(body: string | Uint8Array): Promise<number>
  /** Asks the management API. */
  api(path: string, method?: 'GET' | 'POST'): Promise<Response>
}

export async function vaultDatabase(engine: TestEngine): Promise<VaultDatabase> {
  if (engine === postgres) {
    const { url = '', drop } = await postgres.create()
    const open = (options: OpenOptions = {}) => openVault({ url }, options)
    return { env: { DATABASE_URL: url }, open, remove: drop }
  }
  // Stays open: each of the services attaches to it, as a second process would.
  const { dataDir, close } = await openTestEmbedded('migrated')
  const open = (options: OpenOptions = {}) => openVault({ dataDir, attach: true }, options)
  return { env: { BILLING_DATA_DIR: dataDir }, open, remove: close }
}

async function openVault(
  database: NonNullable<BillingOptions['database']>,
  { key, connection = 'database' }: OpenOptions,
): Promise<VaultService> {
  const { gateway, tokens } = vaultGateway()
  const { log, lines } = capturedLog()
  const runtime = createRuntime(
    {
      database,
      log,
      extraGateways: [gateway],
      gateways: { vault: { secret: vaultSecret } },
      billing: { queue: { connection }, ...(key !== undefined && { encryptionKey: key }) },
      listenerBudgetMs: 20_000,
    },
    { patience: muchPatience },
  )
  const core = coreOf(runtime)
  await core.migrate()
  const worker = connection === 'sync' ? undefined : await core.work()
  const shared = { maxBodyBytes: 100_000, webhookMiddleware: [], log }
  const app = createApp(core, { apiToken: [secret(apiToken)], ...shared })
  const server = await listen(app, { host: '127.0.0.1', port: 0, log })
  const authorization = `Bearer ${apiToken}`
  return {
    core,
    database: (await runtime.opened()).database,
    tokens,
    logged: () => lines.map((line) => JSON.stringify(line)).join('\n'),
    post: async (body) => {
      const init = { method: 'POST', body: Buffer.from(body), headers: vaultHeaders(body) }
      const answer = await fetch(`${server.url}/billing/webhooks/vault`, init)
      await answer.arrayBuffer()
      return answer.status
    },
    api: (path, method = 'GET') =>
      fetch(`${server.url}/billing/api${path}`, { method, headers: { authorization } }),
    [Symbol.asyncDispose]: async () => {
      await server.close(1_000)
      await worker?.stop()
      await core.close()
    },
  }
}
