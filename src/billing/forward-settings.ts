import { z } from 'zod'
import { hasFields } from '../kernel/has-fields.ts'
import { allowFault } from '../outbound/address.ts'
import type { CreateEndpointInput } from '../outbound/endpoint-input.ts'
import { list, text, wholeNumber } from './setting-types.ts'
import { setting } from './setting.ts'

/** An endpoint as it is declared: its name is its key. */
export interface DeclaredEndpointOption extends Omit<CreateEndpointInput, 'name'> {
  /** `whsec_` and base64: the newest first, with commas between them. */
  readonly secret: string
}

const none: readonly string[] = []
const placesRule = 'must be hosts, addresses or ranges such as 10.0.0.0/8'
const place = z.string().refine((entry) => allowFault(entry) === undefined, placesRule)

/** What each one must be is said when the service starts. */
const endpoints = z.custom<Readonly<Record<string, DeclaredEndpointOption>>>(
  hasFields,
  'must be an object with endpoints by their names',
)

/** What goes out: see docs/18-webhooks-out.md. */
export const forward = {
  /**
   * Endpoints by name: `{ shop: { url: 'http://app:8000/hooks', secret: 'whsec_...' } }`. Their origins
   * may be reached wherever they lead.
   * @default none
   */
  endpoints: setting(endpoints, { default: {}, variables: none, secret: true }),
  /** URL of an endpoint called `default`. */
  url: setting(text),
  /** Its secret, `whsec_` and base64; several with commas between them, the newest first. */
  secret: setting(text, { secret: true }),
  /**
   * Hosts, addresses and ranges (`10.0.0.0/8`) that endpoints may reach in production although they
   * are not public.
   * @default none
   */
  allow: setting(list(place, placesRule), { default: [] }),
  /**
   * Days for which each request to an endpoint is kept.
   * @default 30
   */
  keepAttemptsDays: setting(wholeNumber('of days ', 1, 3_650), { default: 30 }),
}
