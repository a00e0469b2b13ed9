import type { DevelopmentTools } from '../console/context.ts'
import { requireConfigured, requireGateway } from '../gateways/require.ts'
import { scenarioOf, signCallback, signerOf } from '../gateways/sign-callback.ts'
import { systemClock } from '../kernel/clock.ts'
import { newUuid } from '../kernel/ids.ts'
import { followCall, markHeader } from './follow-call.ts'
import type { OpenService } from './open-service.ts'
import { paymentToSend } from './payment-to-send.ts'

/** What `quittance send` does, for the pages of the console. */
export function developmentTools({
  core,
  runtime,
}: Pick<OpenService, 'core' | 'runtime'>): DevelopmentTools {
  const { gateways } = runtime.settings
  return {
    scenarios: (name) => {
      const scenarios = gateways.find(name)?.gateway.signer?.scenarios ?? {}
      return Object.entries(scenarios).map(([name, { shows }]) => ({ name, shows }))
    },
    send: async ({ gateway: name, scenario: wanted, paymentId }) => {
      const registered = requireGateway(gateways, name)
      const { gateway } = registered
      const scenarioName = scenarioOf(gateway, wanted)
      const scenario = signerOf(gateway).scenarios[scenarioName] ?? {
        shows: scenarioName,
        means: 'looked up',
      }
      requireConfigured(registered)
      const asked = paymentId === undefined ? {} : { payment: paymentId }
      const payment = await paymentToSend(core, { gateway, scenario, asked })
      const now = systemClock()
      const signed = signCallback(registered, {
        scenario: scenarioName,
        payment,
        now,
        newId: newUuid,
      })
      const mark = newUuid()
      const answer = await core.receive({
        gateway: name,
        target: new URL(core.url('billing.webhook', { gateway: name })).pathname,
        headers: asSent({ ...signed.headers, [markHeader]: mark }),
        body: Buffer.from(signed.body),
      })
      const isTaken = answer.status < 300
      const call = isTaken ? await followCall(core, { gateway: name, mark }) : undefined
      return {
        paymentId: payment.id,
        status: answer.status,
        answer: answer.body,
        callId: call?.id,
      }
    },
  }
}

/** As a server reads them: their names are in small letters. */
function asSent(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(headers)
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]))
}
