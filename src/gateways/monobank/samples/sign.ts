import { createPublicKey, sign, type KeyObject } from 'node:crypto'
import { QuittanceError } from '../../../kernel/errors.ts'
import { findScenario } from '../../find-scenario.ts'
import type { Scenario } from '../../scenario.ts'
import type { SignInput, Signer } from '../../gateway.ts'
import { variableFor, type Credentials } from '../../credential-fields.ts'
import { readPublicKeys } from '../public-key.ts'
import {
  sampleInvoice,
  sampleInvoiceId,
  samplePaymentInfo,
  sampleWallet,
  type SampleFacts,
} from './invoice.ts'
import { signatureHeader } from '../ecdsa.ts'
import { readSigningKey } from './signing-key.ts'

interface Sample extends Scenario {
  readonly facts: (input: SignInput) => SampleFacts
}

const paymentInfo = samplePaymentInfo
const halfOf = ({ payment }: SignInput): bigint => payment.amount / 2n

const scenarios: ReadonlyMap<string, Sample> = new Map<string, Sample>([
  [
    'paid',
    {
      shows: 'the invoice is paid by card',
      means: ['payment:paid'],
      facts: () => ({ status: 'success', more: { paymentInfo } }),
    },
  ],
  [
    'declined',
    {
      shows: 'the card was declined; the same invoice may still be paid',
      means: ['payment:failed'],
      facts: () => ({
        status: 'failure',
        more: { failureReason: 'Недостатньо коштів', errCode: '59', paymentInfo },
      }),
    },
  ],
  [
    'expired',
    {
      shows: 'nobody paid in time',
      means: ['payment:canceled'],
      facts: () => ({ status: 'expired' }),
    },
  ],
  [
    'pending',
    {
      shows: 'the bank is still at it: no result yet',
      means: ['ignored:no_outcome'],
      facts: () => ({ status: 'processing', more: { paymentInfo } }),
    },
  ],
  [
    'hold',
    {
      shows: 'the amount is blocked on the card and not taken',
      means: ['ignored:no_outcome'],
      facts: () => ({ status: 'hold', more: { paymentInfo } }),
    },
  ],
  [
    'refunded',
    {
      shows: 'all of it went back',
      means: ['payment:paid', 'refund:paid'],
      facts: ({ payment }) => ({
        status: 'reversed',
        refunds: { all: payment.amount },
        more: { paymentInfo },
      }),
    },
  ],
  [
    'refunded_half',
    {
      shows: 'half of it, rounded down, went back',
      means: ['payment:paid', 'refund:paid half'],
      facts: (input) => ({
        status: 'success',
        refunds: { half: halfOf(input) },
        more: { paymentInfo },
      }),
    },
  ],
  [
    'refunded_rest',
    {
      shows: 'the other half went back too; both refunds are listed',
      means: ['payment:paid', 'refund:paid half', 'refund:paid rest'],
      facts: (input) => ({
        status: 'reversed',
        refunds: { half: halfOf(input), rest: input.payment.amount - halfOf(input) },
        more: { paymentInfo },
      }),
    },
  ],
  [
    'card_saved',
    {
      shows: 'the paid invoice is reported again, now with the token of the saved card',
      means: ['payment:paid', 'payment_method:attached'],
      facts: (input) => ({
        status: 'success',
        more: { paymentInfo, walletData: sampleWallet(input) },
      }),
    },
  ],
])

/** Makes callbacks as the bank words them. Errors: `gateway_cannot_sign`, `usage`. */
export const monobankSigner: Signer = {
  scenarios: Object.fromEntries(scenarios),
  checkoutReferenceOf: sampleInvoiceId,
  sign(input) {
    const scenario = findScenario('monobank', scenarios, input.scenario)
    const key = signingKeyOf(input.credentials)
    const body = sampleInvoice(input, scenario.facts(input))
    return {
      headers: {
        'content-type': 'application/json',
        [signatureHeader]: sign('sha256', Buffer.from(body), key).toString('base64'),
      },
      body,
    }
  },
}

/** The first test key that one of the configured public keys belongs to. */
function signingKeyOf(credentials: Credentials): KeyObject {
  const { secrets, settings } = credentials
  const cannotSign = (why: string) => unsigned(why, credentials)
  const [signingKey, publicKey] = keyVariables(credentials)
  const texts = secrets.signing_key ?? []
  if (texts.length === 0) throw cannotSign('only the bank has its private key')
  const keys = texts.map((text) => readSigningKey(text.reveal())).filter((key) => key !== undefined)
  if (keys.length < texts.length) throw cannotSign(`${signingKey} is no such key`)
  const accepted = readPublicKeys(settings.public_key ?? '') ?? []
  const key = keys.find((key) => accepted.some((known) => known.equals(createPublicKey(key))))
  if (key !== undefined) return key
  throw cannotSign(`${publicKey} does not name the public half of ${signingKey}`)
}

function keyVariables(credentials: Credentials): readonly [string, string] {
  return [variableFor(credentials, 'signing_key'), variableFor(credentials, 'public_key')]
}

function unsigned(why: string, credentials: Credentials): QuittanceError {
  const [signingKey, publicKey] = keyVariables(credentials)
  return new QuittanceError(
    'gateway_cannot_sign',
    `a callback of gateway monobank cannot be made by hand: ${why}`,
    {
      fix:
        'In development: make an EC P-256 key pair, put the private key (a PEM, or base64 of it) ' +
        `into ${signingKey} and the public key into ${publicKey}. Never in production.`,
    },
  )
}
