import type { Secret } from '../kernel/secret.ts'

/** One setting of a gateway, e.g. `signing_secret`. */
export interface CredentialField {
  /** Environment variables that carry it; the first is the usual one. */
  readonly env: readonly string[]
  /** Never shown; may hold several values separated by commas (rotation). */
  readonly secret: boolean
  /** Without it the gateway counts as not configured and rejects every callback. */
  readonly required: boolean
  /**
   * A field that makes this required one unnecessary, e.g. a token with which the key can be
   * fetched.
   */
  readonly requiredUnless?: string
  readonly description: string
  readonly default?: string
  /** The default under production rules, if it is different. */
  readonly productionDefault?: string
  /** `on` or `off`; a required switch that is off leaves the gateway not configured. */
  readonly isSwitch?: true
  /** What the setting may hold; anything else stops the start with a clear error. */
  readonly accepts?: {
    readonly expected: string
    readonly test: (text: string) => boolean
  }
  /**
   * What the provider publishes for tests; refused under production rules, because it is public.
   */
  readonly publicValues?: readonly string[]
  /** A value for tests, if not every text will do; a different one for each owner. */
  readonly sample?: (owner: string) => string
}

/** The settings of a gateway by field name. */
export type CredentialFields = Readonly<Record<string, CredentialField>>

/** The settings of one gateway as read: secrets wrapped, plain settings as text. */
export interface Credentials {
  /**
   * The name of the gateway that they are of. Each account has requests of its own under way at its
   * provider, so pass it to `createProviderApi` as `account`.
   */
  readonly gateway?: string
  /** The usual variable of each field. */
  readonly variables?: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, readonly Secret[]>>
  readonly settings: Readonly<Record<string, string>>
  /** Every required field is there, and no required switch is off. */
  readonly configured: boolean
}

/** How a message names a setting: by its usual variable, which each account has its own of. */
export function variableFor({ variables }: Credentials, field: string): string {
  return variables?.[field] ?? field
}
