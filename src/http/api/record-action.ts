import { setTimeout as pause } from 'node:timers/promises'
import type { Context } from 'hono'
import type { Duration } from '../../kernel/duration.ts'
import { newUuid } from '../../kernel/ids.ts'
import { readUuid } from '../../kernel/uuid.ts'
import { isEndpointName } from '../../outbound/endpoint-input.ts'
import { askedBy } from '../asked-by.ts'
import { printableName } from '../operator-name.ts'
import { apiError } from './errors.ts'
import type { ApiContext, Route } from './route.ts'

/** Whether what a route does is recorded as the action of an operator. */
export function isAction({ method, isRecorded }: Route): boolean {
  return isRecorded ?? method !== 'GET'
}

interface Asked extends ApiContext {
  readonly route: Route
  readonly c: Context
}

/**
 * Records who does what before it is done: where that cannot be written, nothing is done. What came
 * of it is written after; if that fails, it is done all the same, and its outcome stays unknown.
 * Nothing that the caller wrote is kept but an id: it may be a secret.
 */
export async function recorded(
  { route, c, core, log }: Asked,
  work: () => Promise<Response>,
): Promise<Response> {
  const id = newUuid()
  await core.operators.recordAction({
    id,
    operator: printableName(askedBy(c)),
    via: 'api',
    action: route.name,
    subject: subjectOf(c, route),
    detail: { method: route.method, path: route.path },
  })
  const answer = await work().catch((error: unknown) => answerTo(error, c, log))
  const ended = core.operators.endAction(id, String(answer.status)).catch((error: unknown) => {
    log.warn({ err: error, action: id }, 'what came of an action could not be recorded')
  })
  // What is done is answered, also while the database hangs.
  await Promise.race([ended, pause(longestWait, undefined, { ref: false })])
  return answer
}

const longestWait: Duration = 250

function answerTo(error: unknown, c: Context, log: ApiContext['log']): Response {
  return apiError(error instanceof Error ? error : new Error(String(error)), c, log)
}

/** The id in the path, or the name; whatever else stands there is nobody's. */
function subjectOf(c: Context, { path }: Route): string | null {
  const id = c.req.param('id')
  if (id === undefined) return null
  const isName = path.startsWith('/endpoints/') && isEndpointName(id)
  return isName ? id : (readUuid(id) ?? null)
}
