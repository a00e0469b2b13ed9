import { fieldError, type QuittanceError } from '../kernel/errors.ts'
import { choiceAmong } from '../kernel/similar-name.ts'
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
    if (Array.isArray(given)) return results
    const [result] = results
    if (result?.result === 'unknown_quota') throw await unknownQuota(given as UsageInput)
    return result
  }
  async function unknownQuota({ subscriptionId, quota }: UsageInput): Promise<QuittanceError> {
    const names = (await get(subscriptionId)).map((one) => one.quota)
    const choice =
      names.length === 0 ? '; no subscription of this id has quotas' : choiceAmong(quota, names)
    return fieldError('usage_invalid', 'quota', `${JSON.stringify(quota)} is unknown${choice}`)
  }
  async function get(subscriptionId: string, quota?: string) {
    const db = await handle(runtime, 'billing.usage.get')
    const { processing } = await runtime.context()
    const found = await readUsageOf(db, { subscriptionId, quota: quota ?? null }, processing)
    return found
  }
  const getOneOrAll = async (subscriptionId: string, quota?: string) => {
    const found = await get(subscriptionId, quota)
    return quota === undefined ? found : found[0]
  }
  return { record, get: getOneOrAll } as UsageOperations
}
