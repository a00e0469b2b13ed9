import type { JsonValue } from '../body/json.ts'

/** How something at a provider is changed. */
export type ChangeMethod = 'post' | 'patch' | 'delete'

/** What a provider answered. */
export interface ProviderAnswer {
  /** The HTTP status. */
  readonly status: number
  /** Undefined if it is no JSON, or too long to be read. */
  readonly body: JsonValue | undefined
}

/** What a request carries besides its body. */
export interface RequestOptions {
  readonly query?: Readonly<Record<string, string>>
  /** In addition to those of the API; an `Idempotency-Key`, for example. */
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** What is sent: as JSON, or as form fields. */
export type RequestBody =
  | { readonly json: unknown }
  | { readonly form: Readonly<Record<string, string>> }

/** Whose API it is, and how it is reached. */
export interface ProviderApiOptions {
  /** How messages name the provider. */
  readonly title: string
  /** An http(s) URL; paths go below it. */
  readonly base: string
  /** `credentials.gateway`: no account waits for the requests of another one. */
  readonly account?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** One request, and whose API it goes to. */
export interface Exchange extends RequestOptions {
  readonly options: ProviderApiOptions
  readonly method: 'get' | ChangeMethod
  readonly path: string
  readonly body?: RequestBody
}
