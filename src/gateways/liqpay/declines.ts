import type { DeclineKind } from '../../payments/decline.ts'

/**
 * Codes of `err_code`, by which a payment failed or a charge was refused:
 * https://www.liqpay.ua/en/doc/errors. LiqPay says there what each of them is about; what it means
 * for a saved card is reasoned from that.
 */
const kinds: Readonly<Record<DeclineKind, string>> = {
  // Of refusals, those that have nothing to do with our request: the fraud protection.
  soft: 'limit frod decline',
  // The token is not active, or there is none; the card is not known, not taken, or has expired.
  hard:
    'err_no_card_token err_card err_card_bin err_card_type err_card_country err_card_liqpay_def ' +
    'payment_err_sender_card 102 105 108 9851 9852 9855 9857',
  // The payer must verify the card, or did not do so in time.
  authentication:
    'err_get_verify_code err_verify_code err_sms_otp expired_phone expired_3ds expired_otp ' +
    'expired_cvv expired_p24 expired_sender expired_pin expired_ivr expired_captcha ' +
    'expired_password expired_senderapp',
}

export const declines: ReadonlyMap<string, DeclineKind> = new Map(
  (['soft', 'hard', 'authentication'] as const).flatMap((kind) =>
    kinds[kind].split(' ').map((code) => [code, kind] as const),
  ),
)
