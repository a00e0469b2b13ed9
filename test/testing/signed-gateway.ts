import type { BillingOptions } from '../../src/billing/options.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import { stripe } from '../../src/gateways/stripe/index.ts'

const { apiCredential: _key, ...asStripe } = stripe

/** A gateway from outside of the repository: signed as another one is, under its own settings. */
export const acme: Gateway = {
  ...asStripe,
  name: 'acme',
  title: 'Acme',
  aliases: ['acme-pay'],
  credentials: {
    signing_secret: {
      env: ['ACME_SECRET'],
      secret: true,
      required: true,
      description: 'Signing secret.',
    },
    test_mode: {
      env: ['ACME_TEST_MODE'],
      secret: false,
      required: true,
      isSwitch: true,
      description: 'A switch that must be on.',
    },
  },
}

const { signer: _, ...mute } = acme

/** One that cannot sign. */
export const silent: Gateway = { ...mute, name: 'silent', aliases: [] }

export const withOthers: BillingOptions = { extraGateways: [acme, silent] }
export const signing = [...builtin, acme]
