import { upsertDeclared, type EndpointSettings } from '../database/endpoints.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Secret } from '../kernel/secret.ts'
import { findEnd, type FeedPlace } from './feed-cursor.ts'

/** An endpoint that the configuration declares; its origin may be connected to, wherever it leads. */
export interface DeclaredEndpoint extends EndpointSettings {
  /** The newest first; all of them sign. */
  readonly secrets: readonly Secret[]
}

/** Writes down what is declared here; an endpoint that was there goes on where it was. */
export async function writeDeclared(
  place: FeedPlace,
  declared: Iterable<DeclaredEndpoint>,
  newId: NewId,
): Promise<void> {
  for (const { secrets: _, ...endpoint } of declared) {
    const { position } = await findEnd(place)
    await upsertDeclared(place.db, {
      ...endpoint,
      id: newId(),
      source: 'config',
      secrets: null,
      position,
    })
  }
}
