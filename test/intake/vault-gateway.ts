import { decodeText } from '../../src/gateways/body/decode-text.ts'
import { path, textOf, type JsonValue } from '../../src/gateways/body/json.ts'
import { parseForm } from '../../src/gateways/body/parse-form.ts'
import { parseFormBody } from '../../src/gateways/body/parse-form-body.ts'
import { parseJsonBody } from '../../src/gateways/body/parse-json-body.ts'
import { unreadable, type Payload } from '../../src/gateways/body/payload.ts'
import { plainAcknowledgment, valid, invalid, type Gateway } from '../../src/gateways/gateway.ts'
import { decodeCanonicalHex } from '../../src/gateways/signing/canonical-hex.ts'
import { hmacSha256, matchesHmacSha256 } from '../../src/gateways/signing/hmac.ts'
import { secret } from '../../src/kernel/secret.ts'
import { days } from '../../src/kernel/duration.ts'
import { ignored } from '../../src/payments/outcome.ts'

export const vaultSecret = 'the_secret_of_the_vault_gateway'

export interface Vault {
  readonly gateway: Gateway
  /** The card tokens that `interpret` was given, in order. */
  readonly tokens: (string | undefined)[]
}

/**
 * A gateway whose callbacks carry a card token, as JSON, as a form, or as JSON in base64 in a field
 * of a form.
 */
export function vaultGateway(): Vault {
  const tokens: Vault['tokens'] = []
  const gateway: Gateway = {
    name: 'vault',
    title: 'Vault',
    aliases: [],
    scheme: 'HMAC-SHA256 over the raw body',
    webhook_requires_dashboard_setup: false,
    credentials: {
      secret: { env: ['VAULT_SECRET'], secret: true, required: true, description: 'Secret.' },
    },
    verification: 'signature',
    credentialHeaders: ['vault-signature'],
    secretFields: ['card_token', 'cvv'],
    readFields: ['payment_id', 'card_token'],
    retryWindow: days(1),
    account: () => ({ merchantAccount: null, live: null }),
    verify({ headers, body }, { secrets }) {
      const signature = decodeCanonicalHex(headers['vault-signature'] ?? '', 32)
      if (signature === undefined) return invalid('malformed_signature')
      const signed = { parts: [body], signatures: [signature] }
      return matchesHmacSha256(secrets['secret'] ?? [], signed) ? valid : invalid('wrong_signature')
    },
    parse: ({ body }) => parse(body),
    acknowledge: () => plainAcknowledgment,
    interpret: async (payload) => {
      if (payload.kind === 'unreadable') return [ignored('unreadable_payload')]
      const value: JsonValue = payload.value
      tokens.push(textOf(path(value, 'card', 'card_token') ?? path(value, 'card_token')))
      const id = textOf(path(value, 'payment_id'))
      if (id === undefined) return [ignored('no_outcome')]
      const payment = { id }
      return [{ type: 'payment', payment, status: 'paid', amount: 4999n, currency: 'USD' }]
    },
  }
  return { gateway, tokens }
}

function parse(body: Uint8Array): Payload {
  const decoded = decodeText(body)
  if (!decoded.ok) return unreadable(decoded.reason)
  if (decoded.text.startsWith('{')) return parseJsonBody(body)
  const form = parseForm(decoded.text)
  const data = form.ok ? form.value.get('data') : undefined
  if (data === undefined) return parseFormBody(body)
  const inner = parseJsonBody(Buffer.from(data, 'base64'))
  return inner.kind === 'json' ? { ...inner, exact: false } : inner
}

export function vaultHeaders(body: string | Uint8Array): Record<string, string> {
  const signature = hmacSha256(secret(vaultSecret), [body])
  return { 'vault-signature': Buffer.from(signature).toString('hex') }
}
