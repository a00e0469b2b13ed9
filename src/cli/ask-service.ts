import { newQuestion, questionHeader } from '../http/same-database.ts'
import { seconds } from '../kernel/duration.ts'
import type { Secret } from '../kernel/secret.ts'

const answerTimeout = seconds(5)

/** `unknown`: something else answers there, or nothing, or a service that cannot tell now. */
export type Acquaintance = 'same' | 'other' | 'unknown'

/** Whether the service at this origin works on the database of this key. */
export async function askService(origin: string, key: Secret): Promise<Acquaintance> {
  const question = newQuestion(key)
  try {
    const response = await fetch(new URL('/healthz', origin), {
      headers: { [questionHeader]: question.text },
      redirect: 'manual',
      signal: AbortSignal.timeout(answerTimeout),
    })
    const { database } = (await response.json()) as { readonly database?: unknown }
    if (database === null) return 'other'
    return question.isAnsweredBy(database) ? 'same' : 'unknown'
  } catch {
    return 'unknown'
  }
}
