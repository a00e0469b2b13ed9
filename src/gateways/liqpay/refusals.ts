/**
 * Whether LiqPay's error code means that a request to move money was refused before any money
 * moved. If it does not (`payment_processing`, `order_id_duplicate`, `err_cache`, an unknown code),
 * the status must be polled. https://www.liqpay.ua/en/doc/errors
 */
export function saysNothingDone(code: string): boolean {
  return refusals.has(code)
}

const refusals: ReadonlySet<string> = new Set([
  // The request or the shop.
  'err_auth',
  'err_access',
  'err_blocked',
  'err_signature',
  'invalid_signature',
  'public_key_not_found',
  'shop_blocked',
  'shop_not_active',
  'err_shop_not_agent',
  'err_path',
  'err_api_action',
  'err_api_ip',
  'err_empty',
  'err_missing',
  'err_wrong',
  'order_id_empty',
  'user_not_found',
  // The payment and the sum.
  'payment_not_found',
  'payment_err_status',
  'payment_err_type',
  'err_amount_hold',
  'err_limit_amount',
  'err_payment_amount_limit',
  'amount_limit',
  'wrong_amount_currency',
  'err_wrong_currency',
  'err_currency_is_not_allowed',
  'err_payment_currency',
  // The card.
  'err_no_card_token',
  'err_card',
  'err_card_bin',
  'err_card_type',
  'err_card_country',
  'err_card_liqpay_def',
  'err_card_receiver_def',
  'payment_err_sender_card',
  // The fraud protection.
  'limit',
  'frod',
  'decline',
])
