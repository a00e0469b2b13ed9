import { setTimeout as pause } from 'node:timers/promises'
import type { BillingCore } from '../billing/types.ts'
import type { WebhookCall } from '../events/webhook-call.ts'
import type { Scenario } from '../gateways/scenario.ts'
import { seconds } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { callRemark } from './call-remark.ts'

/** A header of the callback, by which its stored call is found. */
export const markHeader = 'x-quittance-send'

const longestWait = seconds(10)
const lookEveryMs = 100
/** Others may have been stored since. */
const mostPages = 5

/**
 * The stored call with this mark, once it has ended, once an attempt has failed, or as it stands
 * after ten seconds; undefined if there is none.
 */
export async function followCall(
  core: BillingCore,
  { gateway, mark }: { readonly gateway: string; readonly mark: string },
): Promise<WebhookCall | undefined> {
  const deadline = performance.now() + longestWait
  let call = await findMarked(core, { gateway, mark })
  while (performance.now() < deadline && (call === undefined || isUnderWay(call))) {
    await pause(lookEveryMs)
    call =
      call === undefined ? await findMarked(core, { gateway, mark }) : await core.calls.get(call.id)
  }
  return call
}

function isUnderWay({ state, exception }: WebhookCall): boolean {
  return state === 'processing' || (state === 'pending' && exception === null)
}

async function findMarked(
  core: BillingCore,
  { gateway, mark }: { readonly gateway: string; readonly mark: string },
): Promise<WebhookCall | undefined> {
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page += 1) {
    const { data, nextCursor } = await core.calls.list({
      gateway,
      ...(cursor !== undefined && { cursor }),
    })
    const found = data.find(({ headers }) => headers[markHeader] === mark)
    if (found !== undefined || nextCursor === null) return found
    cursor = nextCursor
  }
  return undefined
}

/** `processed: payment:paid`, as `calls list` says it. */
export function endText(call: WebhookCall): string {
  return [call.state, callRemark(call)].filter((part) => part !== '').join(': ')
}

interface Followed {
  readonly call: WebhookCall | undefined
  readonly scenario: Scenario
  readonly workers: number
}

/** What is wrong with what became of it; undefined if it is what the scenario means. */
export function faultOf({ call, scenario, workers }: Followed): QuittanceError | undefined {
  if (call === undefined) {
    return unexpected('it was accepted, but this database has no such call', {
      fix: 'Give this command the database of the service, which must not be older than it.',
    })
  }
  const fix = `See why: quittance calls show ${call.id}`
  const { state } = call
  if (state === 'failed') return unexpected('the call has failed', { fix })
  if (state === 'pending' || state === 'processing') {
    if (call.exception !== null) return unexpected('it is tried again later', { fix })
    const late = `the call is not processed after ${longestWait / seconds(1)} s`
    return workers > 0
      ? unexpected(late, { fix })
      : unexpected(`${late}: no worker runs`, {
          fix: 'Start one: quittance work, or quittance serve',
        })
  }
  const meant = meantBy(scenario)
  if (meant === undefined || meant === state) return undefined
  return unexpected(`the scenario means a call that is ${meant}; this one was ${state}`, { fix })
}

/** Undefined if only the provider can say. */
function meantBy({ means }: Scenario): 'processed' | 'ignored' | undefined {
  if (means === 'looked up') return undefined
  return means.every((one) => one.startsWith('ignored:')) ? 'ignored' : 'processed'
}

function unexpected(what: string, { fix }: { readonly fix: string }): QuittanceError {
  return new QuittanceError('send_unexpected', what, { fix })
}
