import type { SampleInput } from './event.ts'

export function methodId({ idPart }: SampleInput): string {
  return `pm_${idPart}`
}

export function customerId({ idPart }: SampleInput): string {
  return `cus_${idPart}`
}

/** A card as Stripe 2026-10-28 renders it, every field included; `customer`: whose it is. */
export function sampleMethod(input: SampleInput, customer: string | null): object {
  return {
    id: methodId(input),
    object: 'payment_method',
    allow_redisplay: 'unspecified',
    billing_details: {
      address: {
        city: 'Lviv',
        country: 'UA',
        line1: null,
        line2: null,
        postal_code: '79000',
        state: null,
      },
      email: 'olena@shop.example',
      name: 'Olena Kovalenko',
      phone: null,
      tax_id: null,
    },
    card: sampleCard,
    created: input.createdAt - 50,
    customer,
    customer_account: null,
    livemode: input.live,
    metadata: {},
    type: 'card',
  }
}

const sampleCard = {
  brand: 'visa',
  checks: { address_line1_check: null, address_postal_code_check: 'pass', cvc_check: 'pass' },
  country: 'UA',
  display_brand: 'visa',
  exp_month: 11,
  exp_year: 2031,
  fingerprint: 'QuittanceSample1',
  funding: 'debit',
  generated_from: null,
  last4: '9995',
  networks: { available: ['visa'], preferred: null },
  regulated_status: 'unregulated',
  three_d_secure_usage: { supported: true },
  wallet: null,
}

/** A SetupIntent that has saved the card. */
export function sampleSetup(input: SampleInput): object {
  const id = `seti_${input.idPart}`
  return {
    id,
    object: 'setup_intent',
    allowed_payment_method_types: null,
    application: null,
    automatic_payment_methods: { allow_redirects: 'always', enabled: true },
    cancellation_reason: null,
    client_secret: `${id}_secret_sample`,
    created: input.createdAt - 40,
    customer: customerId(input),
    description: null,
    excluded_payment_method_types: null,
    flow_directions: null,
    last_setup_error: null,
    latest_attempt: `setatt_${input.idPart}`,
    livemode: input.live,
    mandate: null,
    metadata: { payment_id: input.paymentId },
    next_action: null,
    on_behalf_of: null,
    payment_method: methodId(input),
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: ['card'],
    single_use_mandate: null,
    status: 'succeeded',
    usage: 'off_session',
  }
}
