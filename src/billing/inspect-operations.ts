import { find } from '../inspect/find.ts'
import { scanCalls } from '../inspect/scan-calls.ts'
import { handle } from './handles.ts'
import type { InspectOperations } from './inspect-types.ts'
import { checked, scanQuery } from './list-queries.ts'
import type { Runtime } from './runtime.ts'

/** `billing.inspect` */
export function inspectOperations(runtime: Runtime): InspectOperations {
  const opened = (what: string) => handle(runtime, `billing.inspect.${what}`)
  const { gateways, searchedMetadata, clock } = runtime.settings
  return {
    find: async (text) =>
      find(await opened('find'), text, {
        gateways: gateways.list().map(({ gateway }) => gateway.name),
        searchedMetadata,
        now: clock(),
      }),
    callsWith: async (query) =>
      scanCalls(await opened('callsWith'), checked(scanQuery, query), {
        now: clock(),
        ticks: () => performance.now(),
      }),
  }
}
