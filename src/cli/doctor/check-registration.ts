import { addressesOf } from '../../billing/money-context.ts'
import type { RegistrationState } from '../../billing/types.ts'
import type { Gateway } from '../../gateways/gateway.ts'
import { systemClock } from '../../kernel/clock.ts'
import { seconds } from '../../kernel/duration.ts'
import { isQuittanceError } from '../../kernel/errors.ts'
import { isLocalHost } from '../../kernel/local-host.ts'
import { createNumbers } from '../../numbers/slots.ts'
import { silentLog } from '../../kernel/log.ts'
import { lackingCredential } from '../../gateways/require.ts'
import { describeError } from '../describe-error.ts'
import { faultText } from '../../upkeep/endpoint-fault-text.ts'
import { readRegistration, type RegistrationContext } from '../../upkeep/read-registration.ts'
import { registerFix } from '../registered-endpoint.ts'
import { error, ok, skipped, warning, type Finding } from './finding.ts'
import type { Installation } from './installation.ts'

const check = 'registration'
/** All providers are asked at the same time. */
const answerWithin = seconds(6)

/** Whether the providers send what is handled here, and to the right URL. */
export async function checkRegistration({ checked }: Installation): Promise<readonly Finding[]> {
  if ('fault' in checked) return [skipped(check, 'the settings are wrong')]
  const { gateways, origin, scrub } = checked.value
  const asked = gateways.list().filter((found) => {
    const { gateway, credentials } = found
    if (gateway.registration === undefined || !credentials.configured) return false
    return lackingCredential(found) === undefined
  })
  if (asked.length === 0) return [ok(check, 'no provider can be asked where it sends callbacks')]
  if (isLocalHost(new URL(origin).hostname)) {
    return [skipped(check, 'the public URL is one of this machine or network')]
  }
  const context: RegistrationContext = {
    addresses: addressesOf(checked.value),
    answerWithin,
    now: systemClock,
    processing: { gateways, log: silentLog, numbers: createNumbers(), scrub },
  }
  const findings = asked.map(({ gateway }) => checkGateway(gateway, context))
  return (await Promise.all(findings)).flat()
}

async function checkGateway(
  gateway: Gateway,
  context: RegistrationContext,
): Promise<readonly Finding[]> {
  const { name } = gateway
  try {
    const state = await readRegistration(name, context)
    return [...ownFindings(state, gateway), ...orphanFindings(state, gateway)]
  } catch (cause) {
    const found = `${name} could not be asked where it sends callbacks: ${reasonOf(cause)}`
    const fix = isQuittanceError(cause) ? cause.fix : 'Check the network; then run it again.'
    return [warning(check, { found, fix })]
  }
}

/** Its fix is given separately. */
function reasonOf(cause: unknown): string {
  return isQuittanceError(cause) ? cause.message : describeError(cause)
}

function ownFindings({ url, own }: RegistrationState, gateway: Gateway): readonly Finding[] {
  const { name, title, credentials, registration } = gateway
  const fix = registerFix(gateway)
  const [kept] = own
  if (kept === undefined) {
    return [warning(check, { found: `${name} has no endpoint for ${url}`, fix })]
  }
  const { endpoint, faults, secretIsConfigured } = kept
  const variable = credentials[registration?.secretField ?? '']?.env[0] ?? ''
  const findings = [
    ...(secretIsConfigured === false
      ? [
          error(check, {
            found: `${variable} is not the secret of endpoint ${endpoint.id}: its callbacks are refused`,
            fix: `Copy it from the dashboard of ${title}; then restart the service.`,
          }),
        ]
      : []),
    ...(faults.length === 0
      ? []
      : [
          warning(check, {
            found: `${name}, endpoint ${endpoint.id}: ${faults.map(faultText).join('; ')}`,
            fix,
          }),
        ]),
    ...(own.length === 1
      ? []
      : [
          warning(check, {
            found: `${name} has ${own.length} endpoints for ${url}: every event comes ${own.length} times`,
            fix: `${fix}${fix.startsWith('Run') ? ' --remove-orphans' : ''}`,
          }),
        ]),
  ]
  return findings.length > 0 ? findings : [ok(check, `${name} sends what is handled to ${url}`)]
}

function orphanFindings({ orphans }: RegistrationState, gateway: Gateway): readonly Finding[] {
  if (orphans.length === 0) return []
  const urls = orphans.map(({ url }) => url).join(', ')
  const found = `${gateway.name} also sends to ${urls}: left over from another URL?`
  const fix = `If no other installation of yours uses it, remove it. ${registerFix(gateway)}`
  return [warning(check, { found, fix })]
}
