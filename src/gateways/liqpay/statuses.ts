// What the statuses of LiqPay's callbacks and replies mean: https://www.liqpay.ua/doc/api/callback

/** The payer must act. If the payer never does, LiqPay ends it with a failure (`expired_...`). */
export const awaitsPayer: ReadonlySet<string> = new Set([
  'prepared',
  'cash_wait',
  'invoice_wait',
  '3ds_verify',
  'otp_verify',
  'cvv_verify',
  'captcha_verify',
  'ivr_verify',
  'password_verify',
  'phone_verify',
  'pin_verify',
  'receiver_verify',
  'sender_verify',
  'senderapp_verify',
  'wait_qr',
  'wait_sender',
  'p24_verify',
  'mp_verify',
])

/** The bank, LiqPay or the shop must act. */
export const awaitsDecision: ReadonlySet<string> = new Set([
  'hold_wait',
  'wait_accept',
  // LiqPay calls it paid, but it is not credited yet: `success` follows, and only that counts.
  'wait_compensation',
  'wait_lc',
  'wait_secure',
  'wait_reserve',
  'wait_card',
  'processing',
])

/** It failed, and the payer may pay the same order in another way. */
export const mayBeTriedAgain: ReadonlySet<string> = new Set(['failure', 'error', 'try_again'])

/** The money was taken; some or all of it may have gone back. */
export const wasTaken: ReadonlySet<string> = new Set(['success', 'sandbox', 'reversed'])
