import type { ApiErrorCode } from './errors.ts'

type Codes = readonly ApiErrorCode[]

/** Why a list may not be shown. */
export const listErrors = ['query_invalid', 'cursor_invalid'] as const satisfies Codes

/** The same of one that is asked for a gateway. */
export const gatewayListErrors = [...listErrors, 'gateway_unknown'] as const satisfies Codes

/** Why a provider may not have done what it was asked. */
export const providerErrors = [
  'operation_unsupported',
  'gateway_not_configured',
  'provider_refused',
  'provider_reply_invalid',
  'provider_unreachable',
] as const satisfies Codes
