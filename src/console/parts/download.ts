import pLimit, { type LimitFunction } from 'p-limit'
import { safeHeaders } from '../../http/respond.ts'
import type { ConsoleContext, Visit } from '../context.ts'

/** A file that is made line by line, and what the audit says of it. */
export interface Download {
  readonly action: string
  readonly subject: string | null
  readonly detail: Readonly<Record<string, unknown>>
  /** Of nothing that anybody else chose: it stands in a header. */
  readonly name: string
  readonly type: string
  readonly lines: AsyncIterable<string>
}

/**
 * Answers with the file. It is recorded before: what is not recorded is not given out. Until the last
 * line is out, what came of it is unknown.
 */
export async function download(
  { console, visitor }: Visit,
  { name, type, lines, ...recorded }: Download,
): Promise<Response> {
  const { operators } = console.core
  const id = console.newId()
  await operators.recordAction({ id, operator: visitor.name, via: 'console', ...recorded })
  const ended = async (outcome: string) => {
    await operators.endAction(id, outcome).catch((error: unknown) => {
      console.log.warn({ err: error, action: id }, 'what came of an action could not be recorded')
    })
  }
  const body = ReadableStream.from(noted(inTurn(console, lines), ended))
  return new Response(body.pipeThrough(new TextEncoderStream()), {
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename="${name}"`,
      ...safeHeaders,
    },
  })
}

/** Of each console: whoever looks at a page does not wait for all who download. */
const turns = new WeakMap<ConsoleContext, LimitFunction>()

/** The same lines; those of all files are read one after the other. */
async function* inTurn(
  console: ConsoleContext,
  lines: AsyncIterable<string>,
): AsyncGenerator<string, void> {
  const turn = turns.get(console) ?? pLimit(1)
  turns.set(console, turn)
  const iterator = lines[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await turn(() => iterator.next())
      if (next.done === true) return
      yield next.value
    }
  } finally {
    await iterator.return?.()
  }
}

/** The same lines; says once whether all of them were taken. */
async function* noted(
  lines: AsyncIterable<string>,
  ended: (outcome: string) => Promise<void>,
): AsyncGenerator<string, void> {
  let outcome = 'broken_off'
  try {
    yield* lines
    outcome = 'done'
  } catch (error) {
    outcome = 'failed'
    throw error
  } finally {
    await ended(outcome)
  }
}
