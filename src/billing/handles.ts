import type { Database } from '../database/connect.ts'
import type { MoneyContext } from '../money/context.ts'
import { refuseInsideListener } from '../listeners/listener-scope.ts'
import type { Runtime } from './runtime.ts'

/** The database for a single statement; refused inside a listener's transaction. */
export async function handle(runtime: Runtime, what: string) {
  return (await openedDatabase(runtime, what)).db
}

/** The same, for more than a statement. */
export async function openedDatabase(runtime: Runtime, what: string): Promise<Database> {
  refuseInsideListener(what)
  return (await runtime.opened()).database
}

/** Refused inside a listener: no transaction may wait for a provider. */
export async function entitled(runtime: Runtime, what: string): Promise<MoneyContext> {
  refuseInsideListener(what, 'gateway_call_in_transaction')
  return runtime.entitledContext()
}
