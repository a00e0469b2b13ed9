import type { CredentialField } from '../credential-fields.ts'
import { isHttpUrl } from '../is-http-url.ts'

/** The setting `api_base` of a gateway. Tests send no request: nothing listens there. */
export function apiBaseField(
  env: readonly string[],
  base: string,
  description = 'Where the API is reached.',
) {
  return {
    env,
    secret: false,
    required: false,
    default: base,
    accepts: { expected: 'an http(s) URL', test: isHttpUrl },
    sample: () => 'http://127.0.0.1:9',
    description,
  } as const satisfies CredentialField
}
