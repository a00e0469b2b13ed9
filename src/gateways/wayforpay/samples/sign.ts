import { QuittanceError } from '../../../kernel/errors.ts'
import type { Secret } from '../../../kernel/secret.ts'
import { scalarOf, signedFieldNames } from '../payload.ts'
import { findScenario } from '../../find-scenario.ts'
import type { SignInput, Signer } from '../../gateway.ts'
import { phpJson, sampleFields, type SampleFields, type SampleState } from './callback.ts'
import { signTexts } from '../signature.ts'

type Scenario = SampleState & { readonly shows: string }

const approved = {
  transactionStatus: 'Approved',
  reason: 'Ok',
  reasonCode: 1100,
  authorized: true,
} as const
const refunded = { ...approved, transactionStatus: 'Refunded' } as const

// The sum that went back is not in a callback: partial refunds look like whole ones.
const scenarios: ReadonlyMap<string, Scenario> = new Map<string, Scenario>([
  ['paid', { shows: 'the order is paid by card', ...approved }],
  [
    'declined',
    {
      shows: 'the card has too little money; the same order may still be paid',
      transactionStatus: 'Declined',
      reason: 'Insufficient Funds',
      reasonCode: 1104,
    },
  ],
  [
    'expired',
    {
      shows: 'nobody paid in time',
      transactionStatus: 'Expired',
      reason: 'Session expired',
      reasonCode: 1124,
    },
  ],
  [
    'pending',
    {
      shows: 'the payment is checked for fraud',
      transactionStatus: 'Pending',
      reason: 'Transaction is pending',
      reasonCode: 1134,
    },
  ],
  [
    'awaiting',
    {
      shows: 'the invoice still waits for its payer',
      transactionStatus: 'Declined',
      reason: 'Waiting for payment',
      reasonCode: 1151,
    },
  ],
  [
    'held',
    {
      shows: 'the money is held, not yet taken',
      ...approved,
      transactionStatus: 'WaitingAuthComplete',
    },
  ],
  ['voided', { shows: 'the hold is released', ...approved, transactionStatus: 'Voided' }],
  ['refunded', { shows: 'all went back (the API tells how much)', ...refunded }],
  ['refunded_half', { shows: 'half went back (the API tells how much)', ...refunded }],
  ['refunded_rest', { shows: 'the rest went back (the API tells how much)', ...refunded }],
  [
    'refund_pending',
    {
      shows: 'a refund waits, for example for a higher balance',
      ...approved,
      transactionStatus: 'RefundInProcessing',
      reason: 'Refund is in processing',
      reasonCode: 1138,
    },
  ],
  ['card_saved', { shows: 'paid, and the card is saved', ...approved, savesCard: true }],
  ['renewed', { shows: 'a scheduled charge is paid', ...approved, scheduled: true }],
])

/** Makes callbacks as WayForPay words and signs them. Errors: `gateway_not_configured`, `usage`. */
export const wayforpaySigner: Signer = {
  scenarios: Object.fromEntries(Array.from(scenarios, ([name, { shows }]) => [name, shows])),
  sign(input) {
    const scenario = findScenario('wayforpay', scenarios, input.scenario)
    return {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: phpJson(signFields(sampleFields(input, scenario), secretOf(input))),
    }
  },
}

/** The same fields with their signature, which follows the order reference. */
export function signFields(fields: SampleFields, secret: Secret): SampleFields {
  const texts = signedFieldNames.map((name) => scalarOf(fields.get(name)) ?? '')
  const signature = ['merchantSignature', signTexts(secret, texts)] as const
  return new Map(
    [...fields].flatMap((field) => (field[0] === 'orderReference' ? [field, signature] : [field])),
  )
}

function secretOf({ credentials }: SignInput): Secret {
  const [secret] = credentials.secrets.secret_key ?? []
  if (credentials.configured && secret !== undefined) return secret
  throw new QuittanceError(
    'gateway_not_configured',
    'a callback of gateway wayforpay cannot be signed without WAYFORPAY_MERCHANT_ACCOUNT and ' +
      'WAYFORPAY_SECRET_KEY',
  )
}
