import { parseJsonBody } from '../../src/gateways/body/parse-json-body.ts'
import {
  invalid,
  plainAcknowledgment,
  valid,
  type Gateway,
  type RawRequest,
} from '../../src/gateways/gateway.ts'
import { secret } from '../../src/kernel/secret.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import type { Answer } from '../../src/intake/responses.ts'
import type { IncomingCall } from '../../src/intake/receive.ts'

/** A gateway whose callbacks state outcomes in our own words, so that a test can state any. */
export const stating: Gateway = {
  name: 'stating',
  title: 'Stating gateway',
  aliases: [],
  scheme: 'a header that says so',
  webhook_requires_dashboard_setup: false,
  credentials: {
    word: {
      env: ['STATING_WORD'],
      secret: false,
      required: true,
      default: 'yes',
      description: 'What the header says.',
    },
  },
  verification: 'signature',
  credentialHeaders: [],
  secretFields: ['token'],
  retryWindow: 0,
  account: () => ({ merchantAccount: null, live: null }),
  verify: ({ headers }, { settings }) =>
    headers['x-stated'] === settings['word'] ? valid : invalid('not_stated'),
  parse: ({ body }: RawRequest) => parseJsonBody(body),
  acknowledge: () => plainAcknowledgment,
  interpret: (payload) => {
    if (payload.kind !== 'json') return Promise.resolve([])
    return Promise.resolve(JSON.parse(payload.text, readField) as Outcome[])
  },
}

/** Another one: the same words, other payments. */
export const echoing: Gateway = { ...stating, name: 'echoing', title: 'Echoing gateway' }

const times: ReadonlySet<string> = new Set(['startsAt', 'endsAt'])

/** Amounts are spelt as text, for JSON has no whole numbers of any size; nor has it times. */
function readField(name: string, value: unknown): unknown {
  if (name === 'amount' || name === 'refundedTotal') return BigInt(value as string)
  if (times.has(name)) return new Date(value as string)
  return name === 'token' ? secret(value as string) : value
}

/** An outcome as its JSON spells it. */
export type Statement = Readonly<Record<string, unknown>> & { readonly type: Outcome['type'] }

/** What a callback sends that means these outcomes. */
export function statedCall(statements: readonly Statement[], gateway = 'stating'): IncomingCall {
  return {
    gateway,
    target: `/billing/webhooks/${gateway}`,
    headers: { 'content-type': 'application/json', 'x-stated': 'yes' },
    body: Buffer.from(
      JSON.stringify(statements, (_name, value: unknown) =>
        typeof value === 'bigint' ? `${value}` : value,
      ),
    ),
  }
}

/** Delivers one callback that means these outcomes. */
export function state(core: BillingCore, ...statements: readonly Statement[]): Promise<Answer> {
  return core.receive(statedCall(statements))
}
