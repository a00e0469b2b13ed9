import type * as Api from '@opentelemetry/api'
import { isQuittanceError } from './errors.ts'
import { textOf } from './exception-text.ts'
import type { Log } from './log.ts'
import type { OpenSpan, SpanAbout, SpanParent, Spans, Tracer } from './spans.ts'

interface SpanOptions {
  readonly log: Log
  /** Blanks out known secrets. */
  scrub(text: string): string
}

/**
 * Spans by a tracer of OpenTelemetry. Its package is loaded here and nowhere else: whoever has a tracer
 * has it. Undefined, and logged, if it cannot be loaded all the same.
 */
export async function loadSpans(tracer: Tracer, options: SpanOptions): Promise<Spans | undefined> {
  try {
    // In a `try`: bundlers then accept that it is not installed.
    const api = await import('@opentelemetry/api')
    return createSpans(api, tracer as Api.Tracer, options)
  } catch (error) {
    options.log.warn({ err: error }, 'no spans are made: @opentelemetry/api cannot be loaded')
    return undefined
  }
}

type Attempt = <T>(step: () => T) => T | undefined

/** Takes steps of the tracer's: one that throws gives undefined, and the first is logged. */
function attempting({ log }: SpanOptions): Attempt {
  let isLogged = false
  return (step) => {
    try {
      return step()
    } catch (error) {
      if (!isLogged) log.warn({ err: error }, 'the tracer failed: spans are missing')
      isLogged = true
      return undefined
    }
  }
}

function createSpans(api: typeof Api, tracer: Api.Tracer, options: SpanOptions): Spans {
  const { context } = api
  const attempt = attempting(options)
  const below = (parentOf: () => Api.Context): SpanParent => ({
    async run(about, work) {
      const begun = attempt(() => begin(api, { tracer, about, parent: parentOf() }))
      if (begun === undefined) return work(silent)
      const { span, within } = begun
      if (about.isEntry === true) attempt(() => linkBack(api, span))
      const opened = { ...below(() => within), ...marksOf(api, span, { ...options, attempt }) }
      try {
        return await activate(within, async () => work(opened))
      } catch (error) {
        opened.threw(error)
        throw error
      } finally {
        attempt(() => span.end())
      }
    },
  })
  /** Runs it once, even if what keeps the context throws. */
  const activate = <T>(within: Api.Context, work: () => Promise<T>): Promise<T> => {
    const running: { work?: Promise<T> } = {}
    attempt(() => {
      context.with(within, () => {
        running.work = work()
      })
    })
    return running.work ?? work()
  }
  return {
    of: (id) => below(() => traceOf(api, id)),
    active: below(() => context.active()),
    bind(work) {
      const within = attempt(() => context.active())
      return within === undefined ? work : () => activate(within, async () => work())
    },
  }
}

/** What is done where no span can be made. */
const silent: OpenSpan = {
  run: (_, work) => work(silent),
  set: () => {},
  failed: () => {},
  threw: () => {},
}

/**
 * What spans about this id have above them: a span that nobody makes, so that those of every process
 * are in one trace. It counts as sampled: otherwise the usual sampler would drop them all.
 */
function traceOf({ ROOT_CONTEXT, trace, TraceFlags }: typeof Api, id: string): Api.Context {
  const traceId = id.replaceAll('-', '')
  const above = { traceId, spanId: traceId.slice(16), traceFlags: TraceFlags.SAMPLED }
  return trace.setSpanContext(ROOT_CONTEXT, { ...above, isRemote: true })
}

interface SpanStart {
  readonly tracer: Api.Tracer
  readonly about: SpanAbout
  readonly parent: Api.Context
}

function begin(
  { context, SpanKind, trace }: typeof Api,
  { tracer, about, parent }: SpanStart,
): { readonly span: Api.Span; readonly within: Api.Context } {
  const { name, kind, attributes, startTime, isEntry = false } = about
  const around = isEntry ? trace.getSpan(context.active()) : undefined
  const isAbove = around !== undefined && around === trace.getSpan(parent)
  const links = around === undefined || isAbove ? [] : [{ context: around.spanContext() }]
  const spanOptions = {
    // Where somebody else's span is about the request, that one is the server's.
    kind: SpanKind[around === undefined ? kind : 'INTERNAL'],
    attributes,
    links,
    ...(startTime !== undefined && { startTime }),
  }
  const span = tracer.startSpan(name, spanOptions, parent)
  return { span, within: trace.setSpan(parent, span) }
}

/** From the span that is active, if it is in another trace. */
function linkBack({ context, trace }: typeof Api, span: Api.Span): void {
  const around = trace.getSpan(context.active())
  const own = span.spanContext()
  if (around?.spanContext().traceId !== own.traceId) around?.addLink({ context: own })
}

function marksOf(
  { SpanStatusCode: { ERROR } }: typeof Api,
  span: Api.Span,
  { attempt, scrub }: SpanOptions & { readonly attempt: Attempt },
): Omit<OpenSpan, 'run'> {
  let hasFailed = false
  const fail = (type: string, message: string) => {
    hasFailed = true
    span.setAttributes({ 'error.type': type })
    span.setStatus({ code: ERROR, message })
  }
  return {
    set: (attributes) => void attempt(() => span.setAttributes(attributes)),
    failed: (reason) => {
      if (!hasFailed) attempt(() => fail(reason, reason))
    },
    threw: (error) => {
      if (hasFailed) return
      attempt(() => {
        const { name, message } = shownError(error, scrub)
        fail(name, message)
        span.recordException({ name, message })
      })
    },
  }
}

const longest = 200

/** What may be shown of what was thrown: of ours its code, as its text may be the provider's. */
function shownError(error: unknown, scrub: (text: string) => string) {
  if (isQuittanceError(error)) return { name: error.code, message: error.code }
  const lineOf = (text: string) =>
    (scrub(text).split('\n', 1)[0] ?? '').slice(0, longest).toWellFormed()
  const isError = error instanceof Error
  const name = isError ? textOf(error.name) : typeof error
  return { name: lineOf(name), message: lineOf(textOf(isError ? error.message : error)) }
}
