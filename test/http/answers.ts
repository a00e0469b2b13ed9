import assert from 'node:assert/strict'
import { z } from 'zod'
import type { Route } from '../../src/http/api/route.ts'
import { routes } from '../../src/http/api/management-api.ts'

const refusal = z.strictObject({
  message: z.string(),
  code: z.string().optional(),
  field: z.string().optional(),
  request_id: z.string().optional(),
  provider_code: z.string().optional(),
})

/** The route that a request is for; a path that is written out goes before one with an id. */
export function routeOf(method: string, path: string): Route | undefined {
  const [plain = ''] = path.split('?')
  const ofMethod = routes.filter((route) => route.method === method)
  return (
    ofMethod.find((route) => route.path === plain) ??
    ofMethod.find((route) => formOf(route.path).test(plain))
  )
}

function formOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

/** Fails unless the header, the body and the log have one id of a request that failed unexpectedly. */
export async function assertFailed(answer: Response, logged: readonly string[]): Promise<void> {
  const id = answer.headers.get('x-request-id')
  const body: unknown = await answer.json()
  assert.deepEqual([answer.status, body], [500, { message: 'internal error', request_id: id }])
  assert.ok(
    logged.some((line) => line.includes(`"requestId":"${id}"`)),
    logged.join('\n'),
  )
}

/** Fails if an answer has a field too many, one too few, or one of another form. */
export async function requireForm(method: string, path: string, answer: Response): Promise<void> {
  const body = await answer.clone().text()
  if (body === '') return
  const schema = answer.ok ? routeOf(method, path)?.answers[answer.status] : refusal
  assert.ok(schema, `no route says that ${method} ${path} answers ${answer.status}`)
  if (!(schema instanceof z.ZodType)) return
  const { error } = schema.safeParse(JSON.parse(body))
  if (error !== undefined) throw new Error(`${method} ${path}: ${z.prettifyError(error)}: ${body}`)
}
