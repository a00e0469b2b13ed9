import { QuittanceError } from '../../../kernel/errors.ts'
import type { Secret } from '../../../kernel/secret.ts'
import { scalarOf, signedFieldNames } from '../payload.ts'
import { variableFor } from '../../credential-fields.ts'
import { findScenario } from '../../find-scenario.ts'
import type { Scenario } from '../../scenario.ts'
import type { SignInput, Signer } from '../../gateway.ts'
import { phpJson, sampleFields, type SampleFields, type SampleState } from './callback.ts'
import { signTexts } from '../signature.ts'

type Sample = SampleState & Scenario

const approved = {
  transactionStatus: 'Approved',
  reason: 'Ok',
  reasonCode: 1100,
  authorized: true,
} as const
const refunded = { ...approved, transactionStatus: 'Refunded' } as const

// A callback does not state the refunded amount: partial refunds look like whole ones.
const scenarios: ReadonlyMap<string, Sample> = new Map<string, Sample>([
  ['paid', { shows: 'the order is paid by card', means: ['payment:paid'], ...approved }],
  [
    'declined',
    {
      shows: 'the card has too little money; the same order may still be paid',
      means: ['payment:failed'],
      transactionStatus: 'Declined',
      reason: 'Insufficient Funds',
      reasonCode: 1104,
    },
  ],
  [
    'expired',
    {
      shows: 'nobody paid in time',
      means: ['payment:canceled'],
      transactionStatus: 'Expired',
      reason: 'Session expired',
      reasonCode: 1124,
    },
  ],
  [
    'pending',
    {
      shows: 'the payment is checked for fraud',
      means: ['ignored:no_outcome'],
      transactionStatus: 'Pending',
      reason: 'Transaction is pending',
      reasonCode: 1134,
    },
  ],
  [
    'awaiting',
    {
      shows: 'the invoice still waits for its payer',
      means: ['ignored:no_outcome'],
      transactionStatus: 'Declined',
      reason: 'Waiting for payment',
      reasonCode: 1151,
    },
  ],
  [
    'held',
    {
      shows: 'the money is held, not yet taken',
      means: ['ignored:no_outcome'],
      ...approved,
      transactionStatus: 'WaitingAuthComplete',
    },
  ],
  [
    'voided',
    { shows: 'the hold is released', means: 'looked up', ...approved, transactionStatus: 'Voided' },
  ],
  [
    'refunded',
    { shows: 'all went back (the API tells how much)', means: 'looked up', ...refunded },
  ],
  [
    'refunded_half',
    { shows: 'half went back (the API tells how much)', means: 'looked up', ...refunded },
  ],
  [
    'refunded_rest',
    { shows: 'the rest went back (the API tells how much)', means: 'looked up', ...refunded },
  ],
  [
    'refund_pending',
    {
      shows: 'a refund waits, for example for a higher balance',
      means: ['ignored:no_outcome'],
      ...approved,
      transactionStatus: 'RefundInProcessing',
      reason: 'Refund is in processing',
      reasonCode: 1138,
    },
  ],
  [
    'card_saved',
    { shows: 'paid, and the card is saved', means: ['payment:paid'], ...approved, savesCard: true },
  ],
  [
    'renewed',
    { shows: 'a scheduled charge is paid', means: ['payment:paid'], ...approved, scheduled: true },
  ],
])

/** Makes callbacks as WayForPay words and signs them. Errors: `gateway_not_configured`, `usage`. */
export const wayforpaySigner: Signer = {
  scenarios: Object.fromEntries(scenarios),
  sign(input) {
    const scenario = findScenario('wayforpay', scenarios, input.scenario)
    return {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: phpJson(signFields(sampleFields(input, scenario), secretOf(input))),
    }
  },
}

/** The same fields with their signature, which follows the order reference. */
function signFields(fields: SampleFields, secret: Secret): SampleFields {
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
    'a callback of WayForPay cannot be signed without ' +
      `${variableFor(credentials, 'merchant_account')} and ${variableFor(credentials, 'secret_key')}`,
  )
}
