import { request, type IncomingMessage } from 'node:http'
import { deployOpen, apiToken, type OpenDeployment } from '../support/deployment.ts'
import { postgres } from '../support/databases.ts'
import { startService, type RunningService } from '../support/process.ts'

/** A running service on PostgreSQL, asked as a reader asks it. */
export interface FeedService extends AsyncDisposable {
  readonly deployment: OpenDeployment
  readonly service: RunningService
  get(path: string, init?: RequestInit): Promise<Response>
  feed(query: string): Promise<FeedAnswer>
}

export interface FeedAnswer {
  readonly status: number
  readonly data: readonly FeedJson[]
  readonly next_cursor: string
  readonly has_more: boolean
}

export interface FeedJson {
  readonly id: string
  readonly type: string
  readonly position: number
  readonly superseded: boolean
  readonly data: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export async function startFeedService(
  env: Readonly<Record<string, string>> = {},
  deployment?: OpenDeployment,
): Promise<FeedService> {
  const deployed = deployment ?? (await deployOpen(postgres))
  const { cwd } = deployed
  const service = await startService({ cwd, env: { ...deployed.env, ...env } })
  const get = (path: string, init: RequestInit = {}) =>
    fetch(`${service.url}/billing/api${path}`, {
      headers: { authorization: `Bearer ${apiToken}` },
      ...init,
    })
  return {
    deployment: deployed,
    service,
    get,
    feed: async (query) => {
      const answer = await get(`/events?order=asc&${query}`)
      return { ...((await answer.json()) as FeedAnswer), status: answer.status }
    },
    [Symbol.asyncDispose]: async () => {
      await service.stop()
      if (deployment === undefined) await deployed.remove()
    },
  }
}

/** One part of a stream: an event, or a cursor alone. */
export interface StreamPart {
  readonly id?: string
  readonly data?: string
}

/** Opens the stream and reads its parts, until the connection is destroyed. */
export async function openStream(
  url: string,
  { query = '', lastId }: { readonly query?: string; readonly lastId?: string | undefined } = {},
) {
  const headers = {
    authorization: `Bearer ${apiToken}`,
    ...(lastId !== undefined && { 'last-event-id': lastId }),
  }
  const asked = request(`${url}/billing/api/events/stream?${query}`, { headers })
  asked.end()
  asked.on('error', () => {})
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve)
    asked.once('error', reject)
  })
  answer.on('error', () => {})
  return { status: answer.statusCode, answer, cut: () => answer.destroy() }
}

export async function* partsOf(answer: IncomingMessage): AsyncGenerator<StreamPart, void> {
  let text = ''
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      text += chunk.toString()
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) yield partOf(part)
    }
  } catch {
    // It was cut.
  }
}

function partOf(text: string): StreamPart {
  const fields = text.split('\n').map((line) => line.split(/: ?(.*)/s, 2))
  return Object.fromEntries(fields) as StreamPart
}
