import type { NotProved } from '../billing/console-sessions.ts'
import { isQuittanceError, type ErrorCode } from '../kernel/errors.ts'
import { isUuid } from '../kernel/uuid.ts'
import {
  backTo,
  questionPage,
  withNotice,
  type Action,
  type Done,
  type Question,
  type ShownOnce,
} from './action.ts'
import type { Visit } from './context.ts'
import { pageHeaders, visitedPage } from './page.ts'
import { failureOf, notFoundPage, refuse, roleMissing } from './refusals.ts'

/** The page that asks before anything is done. */
export async function askFor(visit: Visit, action: Action): Promise<Response> {
  if (visit.visitor.role !== 'operator') return roleMissing(visit)
  const question = await action.question(visit)
  if (question === undefined) return notFoundPage(visit)
  const back = backTo(visit, visit.url.searchParams.get('back'), action.back(visit))
  return visitedPage(visit, questionPage(visit, { action, question, back }))
}

/**
 * Does it, once for each form. It is recorded before: what is not recorded is not done. What came of
 * it is recorded after, and where that fails, it stays unknown.
 */
export async function carryOut(
  visit: Visit,
  action: Action,
  form: URLSearchParams,
): Promise<Response> {
  if (visit.visitor.role !== 'operator') return roleMissing(visit)
  const id = form.get('id')
  if (!isUuid(id ?? undefined) || id === null) return refuse(visit.console, 'form_outdated')
  const back = backTo(visit, form.get('back'), action.back(visit))
  const again = await askAgain(visit, action, { form, back })
  if (again !== undefined) return again
  if ((await record(visit, action, { id, form })) === 'known') return seeOther(back, 'already')
  return perform(visit, action, { id, form, back })
}

interface Filled {
  readonly form: URLSearchParams
  readonly back: string
}

/** Money wants the token, unless it was shown lately. Undefined: it may go on. */
async function askAgain(visit: Visit, action: Action, { form, back }: Filled) {
  const { console, visitor } = visit
  const { access } = console
  if (action.movesMoney !== true || access.kind === 'app') return undefined
  if (visitor.session === undefined || visitor.session.isProved) return undefined
  const { id } = visitor.session
  const { sessions, limits } = access
  const token = (form.get('token') ?? '').trim()
  const { kind } = await sessions.prove(id, token, () => limits.prove(id))
  if (kind === 'proved') return undefined
  limits.refused.prove.add(visitor.name)
  return faultPage(visit, action, { ...notProved[kind], back, form })
}

const notProved: Readonly<Record<NotProved['kind'], Fault>> = {
  refused: {
    status: 403,
    fault: 'This is not the token that you signed in with. Nothing was done.',
  },
  limited: {
    status: 429,
    fault: 'Too many tries: wait a minute, and try again. Nothing was done.',
  },
}

interface Fault {
  readonly fault: string
  readonly status: number
}

async function faultPage(
  visit: Visit,
  action: Action,
  { form, ...shown }: Filled & Fault,
): Promise<Response> {
  const question: Question | undefined = await action.question(visit, form)
  if (question === undefined) return notFoundPage(visit)
  return visitedPage(visit, questionPage(visit, { action, question, ...shown }))
}

interface Recorded {
  readonly id: string
  readonly form: URLSearchParams
}

function record(visit: Visit, action: Action, { id, form }: Recorded) {
  const { core } = visit.console
  return core.operators.recordAction({
    id,
    operator: visit.visitor.name,
    via: 'console',
    action: action.name,
    subject:
      action.subject === undefined ? (visit.params['id'] ?? null) : action.subject(visit, form),
    detail: action.detail?.(form) ?? {},
  })
}

async function perform(
  visit: Visit,
  action: Action,
  { id, form, back }: Recorded & Filled,
): Promise<Response> {
  let done: Done | ShownOnce
  try {
    done = await action.act(visit, { id, form })
  } catch (error) {
    // Of anything else, such as a lost connection, nobody knows whether it was done.
    if (isQuittanceError(error)) await end(visit, id, error.code)
    const failure = failureOf(error)
    if (failure === undefined) throw error
    // Another form would have another id, and might do it once more.
    if (isUnknown(error)) return seeOther(back, 'unknown')
    return faultPage(visit, action, { fault: failure.text, status: failure.status, back, form })
  }
  await end(visit, id, done.outcome ?? 'done')
  if ('page' in done) return visitedPage(visit, done.page)
  return seeOther(done.to === undefined ? back : visit.console.path + done.to, done.notice)
}

/** The provider did not answer: it may have been done. */
const unknownOutcomes: ReadonlySet<ErrorCode> = new Set(['refund_unknown', 'checkout_unknown'])

function isUnknown(error: unknown): boolean {
  return isQuittanceError(error) && unknownOutcomes.has(error.code)
}

async function end({ console }: Visit, id: string, outcome: string): Promise<void> {
  await console.core.operators.endAction(id, outcome).catch((error: unknown) => {
    console.log.warn({ err: error, action: id }, 'what came of an action could not be recorded')
  })
}

function seeOther(path: string, notice: Done['notice']): Response {
  const headers = { location: withNotice(path, notice), ...pageHeaders }
  return new Response(null, { status: 303, headers })
}
