import { QuittanceError } from '../../../kernel/errors.ts'
import type { Signer } from '../../gateway.ts'
import type { Scenario } from '../../scenario.ts'

const scenarios = {
  success: { shows: 'the customer pays', means: ['payment:paid'] },
  failure: { shows: 'the payment is refused', means: ['payment:failed'] },
  card_saved: {
    shows: 'the customer pays, and the test card is saved',
    means: ['payment:paid', 'payment_method:attached'],
  },
} as const satisfies Record<string, Scenario>

/** Makes fake callbacks. There is nothing to sign. */
export const fakeSigner: Signer = {
  scenarios,
  statesMoney: false,
  sign({ scenario, payment }) {
    if (!Object.hasOwn(scenarios, scenario)) {
      const known = Object.keys(scenarios).join(', ')
      throw new QuittanceError('usage', `gateway fake has no scenario ${scenario}; it has ${known}`)
    }
    return {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payment_id: payment.id, ...said(scenario) }),
    }
  },
}

function said(scenario: string): Readonly<Record<string, string>> {
  return scenario === 'card_saved' ? { result: 'success', card: 'good' } : { result: scenario }
}
