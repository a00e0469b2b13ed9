import { QuittanceError } from '../../../kernel/errors.ts'
import { findScenario } from '../../find-scenario.ts'
import type { Scenario } from '../../scenario.ts'
import type { SignedCallback, SignInput, Signer } from '../../gateway.ts'
import {
  numberOrText,
  sampleChargeId,
  sampleInfo,
  sampleOrder,
  sampleToken,
  type SampleOrder,
} from './order.ts'
import { keyVariables } from '../api.ts'
import { signatureOf, signedFields } from '../signature.ts'

interface Sample extends Scenario {
  /** Parameters that differ from those of a paid order. */
  readonly change: (input: SignInput) => SampleOrder
  /** The format in which it is sent: flat JSON by default. */
  readonly as?: 'form' | 'envelope'
}

const noCard = { card_bin: '', card_type: '', eci: '', masked_card: '', payment_system: '' }
const unpaid = { actual_amount: '', approval_code: '', rrn: '' }

const saved = ({ payment }: SignInput): SampleOrder => ({
  rectoken: sampleToken(payment.id),
  rectoken_lifetime: '01.01.2030 00:00:00',
})

const scenarios: ReadonlyMap<string, Sample> = new Map<string, Sample>([
  ['paid', { shows: 'the order is paid by card', means: ['payment:paid'], change: () => ({}) }],
  [
    'paid_form',
    { shows: 'the same, sent as a form', means: ['payment:paid'], change: () => ({}), as: 'form' },
  ],
  [
    'paid_envelope',
    {
      shows: 'the same by protocol 2.0',
      means: ['payment:paid'],
      change: () => ({}),
      as: 'envelope',
    },
  ],
  [
    'declined',
    {
      shows: 'the card is refused; the same order may still be paid',
      means: ['payment:failed'],
      change: () => ({
        ...unpaid,
        order_status: 'declined',
        response_code: 1004,
        response_description: 'Do not honor',
      }),
    },
  ],
  [
    'expired',
    {
      shows: 'the order expired unpaid',
      means: ['payment:canceled'],
      change: () => ({
        ...unpaid,
        ...noCard,
        order_status: 'expired',
        actual_currency: '',
      }),
    },
  ],
  [
    'pending',
    {
      shows: 'the payer is on the way through 3-D Secure',
      means: ['ignored:no_outcome'],
      change: () => ({ ...unpaid, order_status: 'processing' }),
    },
  ],
  [
    'held',
    {
      shows: 'the amount is blocked, and not captured yet',
      means: ['ignored:no_outcome'],
      change: ({ payment }) => ({ additional_info: sampleInfo(payment.live, 'hold') }),
    },
  ],
  [
    'refunded',
    {
      shows: 'the whole amount is reversed',
      means: ['payment:paid', 'refund:paid'],
      change: ({ payment }) => reversal(payment.amount, 'reversed'),
    },
  ],
  [
    'refunded_half',
    {
      shows: 'half of the amount is reversed',
      means: ['payment:paid', 'refund:paid half'],
      change: ({ payment }) => reversal(payment.amount / 2n, 'approved'),
    },
  ],
  [
    'refunded_rest',
    {
      shows: 'the rest is reversed after the half',
      means: ['payment:paid', 'refund:paid'],
      change: ({ payment }) => reversal(payment.amount, 'reversed'),
    },
  ],
  [
    'card_saved',
    {
      shows: 'the order is paid and the card saved',
      means: ['payment:paid', 'payment_method:attached'],
      change: saved,
    },
  ],
  [
    'card_verified',
    {
      shows: 'a card is saved after a check that costs nothing',
      means: ['ignored:no_outcome', 'payment_method:attached'],
      change: (input) => ({
        ...saved(input),
        tran_type: 'verification',
        verification_status: 'verified',
      }),
    },
  ],
  [
    'renewed',
    {
      shows: 'the provider charges the next period of a subscription',
      means: ['payment:paid'],
      change: ({ payment, newId }) => {
        const order = newId()
        return {
          order_id: order,
          parent_order_id: payment.id,
          payment_id: numberOrText(sampleChargeId(order)),
        }
      },
    },
  ],
])

function reversal(amount: bigint, status: 'approved' | 'reversed'): SampleOrder {
  return { order_status: status, tran_type: 'reverse', reversal_amount: String(amount) }
}

/** Makes callbacks as the provider words and signs them. Errors: `gateway_not_configured`, `usage`. */
export const hutkoSigner: Signer = {
  scenarios: Object.fromEntries(scenarios),
  sign(input) {
    const scenario = findScenario('hutko', scenarios, input.scenario)
    return sendAs(scenario.as, { ...sampleOrder(input), ...scenario.change(input) }, input)
  },
}

function sendAs(form: Sample['as'], order: SampleOrder, input: SignInput): SignedCallback {
  if (form === 'envelope') {
    const data = Buffer.from(JSON.stringify({ order })).toString('base64')
    return json({ version: '2.0', data, signature: signText(data, input) })
  }
  const texts = Object.entries(order).map(([name, value]): [string, string] => [name, `${value}`])
  const signed = signedFields(new Map(texts))
  const signature = signText(signed.ok ? signed.text : '', input)
  if (form !== 'form') return json({ ...order, signature })
  return {
    headers: { ...agent, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams([...texts, ['signature', signature]]).toString(),
  }
}

const agent = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/137.0 Twisted' }

function json(content: object): SignedCallback {
  return {
    headers: { ...agent, 'content-type': 'application/json; charset=UTF-8' },
    body: JSON.stringify(content),
  }
}

function signText(text: string, { credentials }: SignInput): string {
  const [key] = credentials.secrets.secret_key ?? []
  if (!credentials.configured || key === undefined) {
    throw new QuittanceError(
      'gateway_not_configured',
      `a callback of hutko cannot be signed without ${keyVariables(credentials)}`,
    )
  }
  return Buffer.from(signatureOf(key, text)).toString('hex')
}
