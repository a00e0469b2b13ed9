import { readUsageOf } from '../usage/read-usage.ts'
import { readUsage, type UsageInput } from '../usage/usage-input.ts'
import { recordedUsageOf } from '../wire/usage.ts'
import { handle } from './handles.ts'
import type { Runtime } from './runtime.ts'
import type { UsageOperations } from './usage-types.ts'

/** `billing.usage` */
export function usageOperations(runtime: Runtime): UsageOperations {
  async function record(given: UsageInput | readonly UsageInput[]) {
    await handle(runtime, 'billing.usage.record')
    const gathering = await runtime.usage()
    const results = (await gathering.record(readUsage(given))).map(recordedUsageOf)
    return Array.isArray(given) ? results : results[0]
  }
  async function get(subscriptionId: string, quota?: string) {
    const db = await handle(runtime, 'billing.usage.get')
    const { processing } = await runtime.context()
    const found = await readUsageOf(db, { subscriptionId, quota: quota ?? null }, processing)
    return quota === undefined ? found : found[0]
  }
  return { record, get } as UsageOperations
}
