/** Who asks: a `viewer` reads, an `operator` also acts. */
export interface Operator {
  readonly name: string
  readonly role: 'viewer' | 'operator'
}

/**
 * An app's own guard. `request` has no body; `env` is what the runtime passes beside it: `c.env` of
 * Hono, `{ incoming, outgoing }` on Node. Undefined answers 403; a `Response` is answered as it is.
 */
export type Authenticate = (
  request: Request,
  env: unknown,
) => Guarded | undefined | Promise<Guarded | undefined>

/** Who asks, or what is answered instead. */
export type Guarded = Operator | Response
