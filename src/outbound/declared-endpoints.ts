import type { Database } from '../database/connect.ts'
import { upsertDeclared } from '../database/endpoints.ts'
import { readEnd } from '../database/feed.ts'
import type { Endpoint } from '../events/endpoint.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Secret } from '../kernel/secret.ts'

/** An endpoint that the configuration declares; its host may be connected to, wherever it leads. */
export interface DeclaredEndpoint extends Pick<
  Endpoint,
  | 'name'
  | 'url'
  | 'description'
  | 'eventTypes'
  | 'gateways'
  | 'payload'
  | 'maxConcurrency'
  | 'ratePerSecond'
  | 'timeoutSeconds'
> {
  /** The newest first; all of them sign. */
  readonly secrets: readonly Secret[]
}

/** Writes down what is declared here; an endpoint that was there goes on where it was. */
export async function writeDeclared(
  { db }: Database,
  declared: Iterable<DeclaredEndpoint>,
  newId: NewId,
): Promise<void> {
  for (const { secrets: _, ...endpoint } of declared) {
    const { position } = await readEnd(db)
    await upsertDeclared(db, {
      ...endpoint,
      id: newId(),
      source: 'config',
      secrets: null,
      position,
    })
  }
}
