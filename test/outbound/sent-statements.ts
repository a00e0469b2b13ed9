import type { TestContext } from 'node:test'
import pg from 'pg'

/** A statement that the database has answered. */
export interface Answered {
  readonly text: string
  /** The name of the connection. */
  readonly application: string | undefined
  /** How many had been answered when it was sent. */
  readonly after: number
}

/** The types of the driver do not name them, but each of its clients has them. */
interface Client {
  readonly connectionParameters: { readonly application_name?: string }
}

type Query = (this: Client, ...args: unknown[]) => unknown

/** The statements of this process, of connections that are opened from now on. */
export function sentStatements(t: TestContext) {
  const sent: string[] = []
  const answered: Answered[] = []
  const query = pg.Client.prototype.query as unknown as Query
  const watched: Query = function (...args) {
    const text = textOf(args[0])
    const after = answered.length
    sent.push(text)
    const answer = query.apply(this, args)
    if (answer instanceof Promise) {
      const { application_name: application } = this.connectionParameters
      answer.then(
        () => answered.push({ text, application, after }),
        () => {},
      )
    }
    return answer
  }
  t.mock.method(pg.Client.prototype, 'query', watched as never)
  return {
    sent,
    answered,
    count: (pattern: RegExp) => sent.filter((text) => pattern.test(text)).length,
  }
}

function textOf(asked: unknown): string {
  return typeof asked === 'string' ? asked : String((asked as { readonly text?: string }).text)
}
