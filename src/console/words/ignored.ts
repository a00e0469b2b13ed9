import type { IgnoredReason } from '../../payments/outcome.ts'

/** Why a callback changed nothing, in a sentence. */
export const ignoredWords: Readonly<Record<IgnoredReason, string>> = {
  unhandled_event: 'It is of a kind that nothing is done about.',
  no_outcome: 'It says nothing that is understood here.',
  unreadable_payload: 'It is genuine, but could not be read.',
  malformed_payload: 'It is genuine, but lacks what its format requires.',
  invalid_reference: 'It names a payment as we name none.',
  unknown_payment: 'It names a payment that does not exist here.',
  gateway_mismatch: 'It is about a payment of another gateway.',
  merchant_mismatch: 'It is of another account than the payment was made for.',
  mode_mismatch: 'It is of another mode, live or test, than the payment was made for.',
  checkout_reference_mismatch: 'It is about another checkout than the one of the payment.',
  checkout_reference_unknown: 'It is about a checkout that is not known to be of the payment.',
  provider_reference_mismatch:
    'It is about a charge with another id than the provider gave for the payment.',
  provider_reference_taken: 'It is about a charge that pays another payment already.',
  subscription_mismatch: 'It is about a subscription that the payment did not begin.',
  amount_mismatch: 'It states other money than the payment is about.',
  already_paid: 'The payment is paid already, and stays paid.',
  already_paid_other_reference: 'The payment is paid already, by another charge.',
  already_settled: 'What it is about is decided already.',
}
