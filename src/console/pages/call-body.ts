import { html } from 'hono/html'
import { isUuid } from '../../kernel/uuid.ts'
import type { Visit } from '../context.ts'
import { pageHeaders, visitedPage } from '../page.ts'
import { storedBytes } from './call-payload.ts'

/** All that is stored of a body, as a file. It is recorded before: what is not recorded does not go out. */
export async function callBody(visit: Visit): Promise<Response | undefined> {
  const { console, params, visitor } = visit
  const { id = '' } = params
  const call = isUuid(id) ? await console.core.calls.get(id) : undefined
  if (call === undefined) return undefined
  const bytes = storedBytes(call)
  if (bytes === undefined) return nothingInTheClear(visit)
  const action = console.newId()
  await console.core.operators.recordAction({
    id: action,
    operator: visitor.name,
    via: 'console',
    action: 'downloadCallBody',
    subject: call.id,
    detail: { bytes: bytes.byteLength },
  })
  await console.core.operators.endAction(action, 'done')
  return new Response(Buffer.from(bytes), {
    headers: {
      ...pageHeaders,
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="call-${call.id}.bin"`,
    },
  })
}

function nothingInTheClear(visit: Visit): Promise<Response> {
  return visitedPage(visit, {
    status: 404,
    title: 'No body',
    section: 'calls',
    body: html`<p>
      The body of this call is stored encrypted, or not at all. The console does not decrypt it.
    </p>`,
  })
}
