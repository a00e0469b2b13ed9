import { declineCodeIn, type DeclineKind } from '../payments/decline.ts'
import type { Gateway } from './gateway.ts'

const nameGrammar = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const fieldGrammar = /^[a-z][a-z0-9_]*$/
const envGrammar = /^[A-Z][A-Z0-9_]*$/
const headerGrammar = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

const functions = ['account', 'verify', 'parse', 'acknowledge', 'interpret'] as const
const operations = [
  'moneyFault',
  'poll',
  'refund',
  'chargeSavedCard',
  'removeSavedCard',
  'closeCheckout',
] as const

/**
 * What is missing or wrong in a gateway's descriptor, as one phrase; undefined if it is complete.
 * Checked at the start, because gateways may come from outside this repository.
 */
export function descriptorFault(gateway: Gateway): string | undefined {
  return (
    nameFault(gateway) ??
    credentialFault(gateway) ??
    behaviourFault(gateway) ??
    refusalFault(gateway)
  )
}

function nameFault(gateway: Gateway): string | undefined {
  if (!Array.isArray(gateway.aliases)) return 'aliases must be a list of names'
  const { name, driver = name } = gateway
  const names: readonly unknown[] = [name, driver, ...gateway.aliases]
  const bad = names.filter((one) => typeof one !== 'string' || !nameGrammar.test(one))
  if (bad.length > 0) return `name ${JSON.stringify(bad[0])} must be lower-case words with hyphens`
  if (!gateway.title) return 'title is missing'
  if (!gateway.scheme) return 'scheme is missing'
  return undefined
}

function credentialFault(gateway: Gateway): string | undefined {
  if (!isObject(gateway.credentials)) return 'credentials is missing'
  const fields = Object.entries(gateway.credentials)
  for (const [name, field] of fields) {
    if (!fieldGrammar.test(name)) return `credential ${name} must be lower-case words`
    if (name === 'driver')
      return 'credential driver needs another name: it says of what an account is'
    if (!isNonEmptyList(field.env)) return `credential ${name} names no environment variable`
    if (!field.env.every((key) => envGrammar.test(key))) {
      return `credential ${name} has an invalid environment variable name`
    }
    if (!field.description) return `credential ${name} has no description`
    if (field.secret && field.default !== undefined) return `secret ${name} has a default`
  }
  if (gateway.verification === 'none') return undefined
  if (gateway.verification !== 'signature') return 'verification must be `signature` or `none`'
  return fields.some(([, field]) => field.required)
    ? undefined
    : 'a gateway with signatures needs a required credential'
}

function behaviourFault(gateway: Gateway): string | undefined {
  const missing = functions.find((name) => typeof gateway[name] !== 'function')
  if (missing !== undefined) return `${missing}() is missing`
  if (typeof gateway.webhook_requires_dashboard_setup !== 'boolean') {
    return 'webhook_requires_dashboard_setup is missing'
  }
  if (!Array.isArray(gateway.credentialHeaders)) return 'credentialHeaders is missing'
  const header = gateway.credentialHeaders.find((name) => !headerGrammar.test(name))
  if (header !== undefined) return `credential header ${header} must be in lower case`
  if (!Array.isArray(gateway.secretFields)) return 'secretFields is missing'
  if (gateway.answersUnread !== undefined && gateway.secretFields.length > 0) {
    return 'answersUnread stores bodies unread: there can be no secretFields to mask in them'
  }
  if (!Array.isArray(gateway.readFields ?? [])) return 'readFields must be a list of names'
  const { maxBodyBytes = 1 } = gateway
  if (!Number.isSafeInteger(maxBodyBytes) || maxBodyBytes < 1) {
    return 'maxBodyBytes must be a number of bytes'
  }
  if (!Number.isFinite(gateway.retryWindow) || gateway.retryWindow < 0) {
    return 'retryWindow must be a length of time'
  }
  return operationFault(gateway)
}

function refusalFault({ refusalReasons = [], dashboardUrl }: Gateway): string | undefined {
  if (!Array.isArray(refusalReasons)) return 'refusalReasons must be a list of words'
  const bad: unknown = refusalReasons.find(
    (one) => typeof one !== 'string' || !fieldGrammar.test(one),
  )
  if (bad !== undefined) return `refusal reason ${JSON.stringify(bad)} must be lower-case words`
  return ['function', 'undefined'].includes(typeof dashboardUrl)
    ? undefined
    : 'dashboardUrl must be a function'
}

function operationFault(gateway: Gateway): string | undefined {
  const { apiCredential, checkout, credentials, partialRefund, refund } = gateway
  if ('capabilities' in gateway) {
    return (
      'capabilities follow from the operations: leave them out, and say `partialRefund: true` ' +
      'where refund() also gives back parts'
    )
  }
  const wrong = operations.find((name) => !['function', 'undefined'].includes(typeof gateway[name]))
  if (wrong !== undefined) return `${wrong} must be a function`
  if (checkout !== undefined && !['api', 'form', 'page'].includes(checkout.kind)) {
    return 'checkout must be of kind `api`, `form` or `page`'
  }
  if (apiCredential !== undefined && !Object.hasOwn(credentials, apiCredential)) {
    return `apiCredential ${apiCredential} is none of its credentials`
  }
  if (partialRefund === true && refund === undefined) return 'partialRefund without refund()'
  return togetherFault(gateway) ?? chargeFault(gateway) ?? signerFault(gateway)
}

function togetherFault({ poll, pollTogether }: Gateway): string | undefined {
  if (pollTogether === undefined) return undefined
  if (poll === undefined) return 'pollTogether without poll()'
  const { most, ask } = pollTogether
  const isWhole = Number.isSafeInteger(most) && most > 1 && typeof ask === 'function'
  return isWhole ? undefined : 'pollTogether needs ask() and most, a number above 1'
}

const declineKinds: ReadonlySet<unknown> = new Set<DeclineKind>(['soft', 'hard', 'authentication'])

function chargeFault({ declines, chargesPerMinute = 1 }: Gateway): string | undefined {
  if (declines !== undefined && !(declines instanceof Map)) return 'declines must be a Map'
  for (const [code, kind] of declines ?? []) {
    if (declineCodeIn(code) === undefined) return `declines: ${code} is no code`
    if (!declineKinds.has(kind)) return `declines: ${code} must be soft, hard or authentication`
  }
  return Number.isFinite(chargesPerMinute) && chargesPerMinute > 0
    ? undefined
    : 'chargesPerMinute must be a number above 0'
}

function signerFault({ signer }: Gateway): string | undefined {
  if (signer === undefined) return undefined
  if (typeof signer.sign !== 'function' || !isObject(signer.scenarios)) {
    return 'signer needs sign() and scenarios'
  }
  const bad = Object.entries(signer.scenarios).find(
    ([, scenario]) =>
      typeof scenario?.shows !== 'string' ||
      !(Array.isArray(scenario.means) || scenario.means === 'looked up'),
  )
  return bad && `scenario ${bad[0]} must be { shows, means }`
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function isNonEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0
}
