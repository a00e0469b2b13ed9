import { QuittanceError } from '../../../kernel/errors.ts'
import type { Signer } from '../../gateway.ts'

const scenarios = {
  success: 'the customer pays',
  failure: 'the payment is refused',
} as const

/** Makes fake callbacks. There is nothing to sign. */
export const fakeSigner: Signer = {
  scenarios,
  sign({ scenario, payment }) {
    if (!Object.hasOwn(scenarios, scenario)) {
      const known = Object.keys(scenarios).join(', ')
      throw new QuittanceError('usage', `gateway fake has no scenario ${scenario}; it has ${known}`)
    }
    return {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payment_id: payment.id, result: scenario }),
    }
  },
}
