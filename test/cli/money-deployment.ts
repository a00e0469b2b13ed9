import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createCore } from '../../src/billing/create-core.ts'
import type { Database } from '../../src/database/connect.ts'
import { unhurried } from '../support/billing.ts'
import type { TestEngine } from '../support/databases.ts'
import { runHosted } from '../support/command-host.ts'
import { deployOpen, type Deployment } from '../support/deployment.ts'
import type { Ending } from '../support/process.ts'
import { scripted, type Script } from './scripted-gateway.ts'

/** A configuration with the scripted gateway, and a listener that writes down what it is told. */
export interface MoneyDeployment extends AsyncDisposable {
  readonly deployment: Deployment
  readonly env: Readonly<Record<string, string>>
  readonly database: Database
  /** Runs a command, hosted. */
  run(...args: readonly string[]): Promise<Ending>
  /** Creates a payment that the provider treats by the script; its id. No process is started. */
  create(script: Script & { readonly listener?: 'fails' }): Promise<string>
  /** Of which events the listener was told, by payment (a refund is one too). */
  told(id: string): Promise<readonly string[]>
  /** From now on the provider is to be asked about them, and has been for so long. */
  makeDue(ids: readonly string[], minutesAgo: number): Promise<void>
}

const listener = `
async function teller(event, { tx }) {
  if (event.payment.metadata?.listener === 'fails') throw new Error('the printer is on fire')
  await tx.query('insert into told (type, payment_id) values ($1, $2)', [event.type, event.payment.id])
}`

/** The configuration file; without the listener it is one that has forgotten it. */
export function writeConfig(folder: string, { withListener }: { withListener: boolean }): void {
  const fileOf = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
  const types = "['PaymentSucceeded', 'PaymentRefunded', 'PaymentCanceled']"
  const listeners = `{ teller: { on: ${types}, run: teller } }`
  const text = `
import { scripted } from ${fileOf('./scripted-gateway.ts')}
import { stating } from ${fileOf('../support/stating-gateway.ts')}
${withListener ? listener : ''}
export default {
  extraGateways: [scripted, stating],
  listeners: ${withListener ? listeners : '{}'},
}`
  writeFileSync(join(folder, 'quittance.config.js'), text)
}

export const payable = ['--amount', '1999', '--currency', 'UAH', '--payable', 'order:42']

export async function deployMoney(engine: TestEngine): Promise<MoneyDeployment> {
  const deployment = await deployOpen(engine)
  writeConfig(deployment.cwd, { withListener: true })
  const { database } = deployment
  const apiKey = 'key-of-the-scripted-gateway'
  const env = { ...deployment.env, SCRIPTED_API_KEY: apiKey }
  const core = createCore(
    {
      database: { url: deployment.env['DATABASE_URL'] ?? '' },
      extraGateways: [scripted],
      gateways: { scripted: { api_key: apiKey } },
    },
    unhurried,
  )
  const options = { cwd: deployment.cwd, env }
  return {
    deployment,
    env,
    database,
    run: (...args) => runHosted(args, options),
    create: async (script) => {
      const payment = { gateway: 'scripted', amount: 1999, currency: 'UAH' }
      const payable = { type: 'order', id: '42' }
      const { id } = await core.payments.create({ ...payment, payable, metadata: { ...script } })
      return id
    },
    told: async (id) => {
      const { rows } = await sql<{ type: string }>`
        select type from told where payment_id = ${id} order by type`.execute(database.db)
      return rows.map(({ type }) => type)
    },
    makeDue: async (ids, minutesAgo) => {
      await sql`
        update billing.payments
        set next_poll_at = clock_timestamp() - make_interval(mins => ${minutesAgo})
        where id = any(${[...ids]}::uuid[])`.execute(database.db)
    },
    [Symbol.asyncDispose]: async () => {
      await core.close()
      await deployment.remove()
    },
  }
}
