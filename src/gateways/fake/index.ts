import { parseJsonBody } from '../body/parse-json-body.ts'
import {
  invalid,
  plainAcknowledgment,
  smallBody,
  valid,
  type Gateway,
  type RawRequest,
  type Verdict,
} from '../gateway.ts'
import type { CredentialFields, Credentials } from '../credential-fields.ts'
import { chargeSavedCard } from './charge-saved-card.ts'
import { fakeCheckout } from './checkout.ts'
import { closeCheckout } from './close-checkout.ts'
import { declines } from './declines.ts'
import { interpretFake } from './interpret.ts'
import { readFakeCallback } from './payload.ts'
import { pollFake } from './poll.ts'
import { refundFake } from './refund.ts'
import { removeSavedCard } from './remove-saved-card.ts'
import { fakeSigner } from './samples/sign.ts'

const credentials = {
  enabled: {
    env: ['BILLING_FAKE'],
    secret: false,
    required: true,
    isSwitch: true,
    default: 'on',
    productionDefault: 'off',
    description: 'Whether the fake gateway takes callbacks: anybody can send them.',
  },
} as const satisfies CredentialFields

const refusalReasons = ['switched_off'] as const
type RefusalReason = (typeof refusalReasons)[number]

/**
 * Checks the switch and the fields: without a signature, the sender of bad fields gets an answer.
 */
function verify(request: RawRequest, { settings }: Credentials): Verdict<RefusalReason> {
  if (settings.enabled !== 'on') return invalid('switched_off')
  const callback = readFakeCallback(parseJsonBody(request.body))
  return callback.ok ? valid : { malformed: callback.malformed }
}

/** The built-in test gateway: unsigned callbacks through the production pipeline. */
export const fake: Gateway = {
  name: 'fake',
  title: 'Fake gateway',
  aliases: [],
  scheme: 'none: anybody can send a callback',
  webhook_requires_dashboard_setup: false,
  credentials,
  verification: 'none',
  maxBodyBytes: smallBody,
  credentialHeaders: [],
  secretFields: [],
  readFields: ['payment_id', 'result', 'card', 'code'],
  retryWindow: 0,
  account: () => ({ merchantAccount: null, live: false }),
  verify,
  refusalReasons,
  parse: (request) => parseJsonBody(request.body),
  acknowledge: () => plainAcknowledgment,
  interpret: (payload) => Promise.resolve(interpretFake(payload)),
  signer: fakeSigner,
  checkout: fakeCheckout,
  poll: pollFake,
  refund: refundFake,
  partialRefund: true,
  chargeSavedCard,
  declines,
  chargesPerMinute: 60_000,
  removeSavedCard,
  closeCheckout,
}
