import { days, type Duration } from '../../kernel/duration.ts'
import { apiBaseField } from '../api/api-base-field.ts'
import { parseJsonBody } from '../body/parse-json-body.ts'
import { plainAcknowledgment, smallBody, type Gateway } from '../gateway.ts'
import type { CredentialFields } from '../credential-fields.ts'
import { chargeSavedCard } from './charge-saved-card.ts'
import { openInvoice } from './checkout.ts'
import { closeInvoice } from './close-checkout.ts'
import { declines } from './declines.ts'
import { interpretMonobank } from './interpret.ts'
import { moneyFault } from './money-fault.ts'
import { pollInvoice } from './poll.ts'
import { readPublicKeys } from './public-key.ts'
import { refundInvoice } from './refund.ts'
import { removeSavedCard } from './remove-saved-card.ts'
import { monobankSigner } from './samples/sign.ts'
import { signatureHeader } from './ecdsa.ts'
import { sampleKeys } from './samples/signing-key.ts'
import { createVerifier, defaultApiBase, defaultKeyTimeout, refusalReasons } from './signature.ts'

const credentials = {
  token: {
    env: ['MONOBANK_TOKEN'],
    secret: true,
    required: false,
    description: 'X-Token of the merchant; with it the public key is fetched and kept current.',
  },
  public_key: {
    env: ['MONOBANK_PUBLIC_KEY'],
    secret: false,
    required: true,
    requiredUnless: 'token',
    accepts: {
      expected: 'EC P-256 public keys, each a PEM or the base64 of one, separated by commas',
      test: (text) => readPublicKeys(text) !== undefined,
    },
    sample: (owner) => sampleKeys(owner).publicKey,
    description: 'The key that the bank signs with, as GET /api/merchant/pubkey gives it.',
  },
  api_base: apiBaseField(['MONOBANK_API_BASE'], defaultApiBase),
  signing_key: {
    env: ['MONOBANK_SIGNING_KEY'],
    secret: true,
    required: false,
    sample: (owner) => sampleKeys(owner).signingKey,
    description:
      'Development only: private half of MONOBANK_PUBLIC_KEY, with which test callbacks are signed.',
  },
} as const satisfies CredentialFields

export interface MonobankOptions {
  /** How long intake waits for the bank's key: 3 s. */
  readonly keyTimeout?: Duration
}

/** Makes the gateway with a key cache of its own. */
export function createMonobank({ keyTimeout = defaultKeyTimeout }: MonobankOptions = {}): Gateway {
  return {
    name: 'monobank',
    title: 'monobank',
    aliases: ['ecdsa'],
    scheme: 'ECDSA P-256 with SHA-256 over the raw body',
    webhook_requires_dashboard_setup: false,
    callbackUrlField: 'webHookUrl',
    credentials,
    verification: 'signature',
    maxBodyBytes: smallBody,
    credentialHeaders: [signatureHeader],
    secretFields: ['cardToken'],
    readFields: [
      'amount',
      'cardToken',
      'ccy',
      'createdDate',
      'errCode',
      'extRef',
      'invoiceId',
      'maskedPan',
      'modifiedDate',
      'paymentSystem',
      'reference',
      'rrn',
      'status',
      'walletId',
    ],
    // Up to three attempts at intervals that are not published; a day is surely longer.
    retryWindow: days(1),
    // Neither the token nor a callback shows which merchant it is, or whether money is real.
    account: () => ({ merchantAccount: null, live: null }),
    verify: createVerifier(keyTimeout),
    refusalReasons,
    parse: (request) => parseJsonBody(request.body),
    acknowledge: () => plainAcknowledgment,
    interpret: (payload) => Promise.resolve(interpretMonobank(payload)),
    signer: monobankSigner,
    apiCredential: 'token',
    checkout: { kind: 'api', open: openInvoice },
    moneyFault,
    poll: pollInvoice,
    refund: refundInvoice,
    partialRefund: true,
    chargeSavedCard,
    declines,
    removeSavedCard,
    closeCheckout: closeInvoice,
  }
}

/** monobank's acquiring (plata by mono). Protocol and choices: README.md beside this file. */
export const monobank = createMonobank()
