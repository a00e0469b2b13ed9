import { message, type Answer } from '../intake/responses.ts'

/** On every response: nothing about a payment belongs in a cache, and no type is guessed. */
export const safeHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

export const notFound = message(404, 'not found')
export const badRequest = message(400, 'bad request')
/** For an unfinished body: what follows on the connection cannot be separated from it. */
export const bodyCutShort = message(400, 'bad request', { connection: 'close' })

/** What nobody expected: the log says more, under the same id. */
export function internalError(requestId?: string): Answer {
  return named(message(500, 'internal error'), requestId)
}

/** An internal failure, with the request id that stands in the log. */
export function named(answer: Answer, requestId: string | undefined): Answer {
  const body = JSON.parse(answer.body) as object
  return { ...answer, body: JSON.stringify({ ...body, request_id: requestId }) }
}

export function respond(answer: Answer): Response {
  return new Response(answer.body, {
    status: answer.status,
    headers: { ...answer.headers, ...safeHeaders },
  })
}

export function json(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', ...headers, ...safeHeaders },
  })
}

/** 405 for a path that exists under other methods. */
export function onlyAllow(methods: string): () => Response {
  const answer = message(405, 'method not allowed', { allow: methods })
  return () => respond(answer)
}
