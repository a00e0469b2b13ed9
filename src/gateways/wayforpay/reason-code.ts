import { QuittanceError } from '../../kernel/errors.ts'
import type { JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import { scalarOf, type SignedFields } from './payload.ts'

/** The codes that decide what a reply means (the wiki's page "Codes of responses"). */
export const reasonCodes = {
  ok: '1100',
  invalidSignature: '1113',
  illegalOrderState: '1126',
  orderNotFound: '1127',
  /** The invoice still waits for its payer. */
  awaitingPayment: '1151',
  awaiting3ds: '5100',
} as const

/** The bank, the card or the checks refuse: nothing is charged. */
const cardRefusals = '1101 1102 1103 1104 1105 1106 1108 1114 1120 1122 1135'
/** The request is wrong: its form, currency, signature, fields, token, permissions, amount. */
const requestRefusals = '1109 1110 1113 1115 1116 1117 1118 1130'
/** The order is not in the state for it: no refund allowed, unknown, refunded enough. */
const orderRefusals = '1123 1126 1127 1128'

/**
 * Errors with which WayForPay has certainly done nothing. All others leave that open: among them
 * 1112 (an order with that name exists, whoever made it), 1136 (a refund may wait for the balance)
 * and the codes of work in progress.
 */
const refusals: ReadonlySet<string> = new Set(
  [cardRefusals, requestRefusals, orderRefusals].flatMap((codes) => codes.split(' ')),
)

/** Whether the code of success comes with a status that is not success, or the other way round. */
export function isContradicted({
  transactionStatus,
  reasonCode,
}: Pick<SignedFields, 'transactionStatus' | 'reasonCode'>): boolean {
  const isOk = reasonCode === reasonCodes.ok
  if (transactionStatus === 'Approved') return !isOk
  return isOk && /^(?:Declined|Expired)$/.test(transactionStatus)
}

/** Work in progress, or something that is waited for. */
const pending: ReadonlySet<string> = new Set(['1131', '1132', '1134', '1138', '1151', '5100'])

/**
 * Whether a signed `Declined` with this code is final: a reason that is neither success nor work in
 * progress.
 */
export function declines(code: string): boolean {
  return code !== '' && code !== reasonCodes.ok && !pending.has(code)
}

export function reasonCodeOf(reply: JsonObject): string | undefined {
  return scalarOf(reply.get('reasonCode'))
}

/**
 * What a reply without usable content means: `provider_refused` if WayForPay has certainly done
 * nothing, otherwise `provider_reply_invalid`.
 */
export function unusable(asked: string, reason: string, reply?: JsonObject): QuittanceError {
  const code = reply && isUnsigned(reply) ? reasonCodeOf(reply) : undefined
  if (code === undefined || code === reasonCodes.ok) {
    return new QuittanceError('provider_reply_invalid', `WayForPay answered ${asked}: ${reason}`)
  }
  const providerCode = detail(code)
  return new QuittanceError(
    refusals.has(code) ? 'provider_refused' : 'provider_reply_invalid',
    `WayForPay answered ${asked} with reason code ${providerCode} (${reason})`,
    { providerCode },
  )
}

/** Errors come with HTTP 200, unsigned, and with a reason code. */
function isUnsigned(reply: JsonObject): boolean {
  return (reply.get('merchantSignature') ?? '') === ''
}
