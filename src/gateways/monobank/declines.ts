import type { DeclineKind } from '../../payments/decline.ts'

/**
 * Codes of `errCode`, by which an invoice failed:
 * https://monobank.ua/api-docs/acquiring/dev/errors/payment. The bank says there what each of them
 * is about; what it means for a saved card is reasoned from that.
 */
const kinds: Readonly<Record<'hard' | 'authentication', string>> = {
  // Lost, expired, an invalid number or date, not for such payments, blocked for risk. And instead
  // of an invoice: the bank has no such token.
  hard: '40 41 51 52 56 1064 1080 1406 1419 TOKEN_NOT_FOUND',
  // 3-D Secure failed, or the token alone is not enough: the whole card or its CVV is needed.
  authentication: '84 1014 1034 1035 1045 1054 1200 1421 1422 1425 1429 1458 8004',
}

export const declines: ReadonlyMap<string, DeclineKind> = new Map(
  (['hard', 'authentication'] as const).flatMap((kind) =>
    kinds[kind].split(' ').map((code) => [code, kind] as const),
  ),
)
