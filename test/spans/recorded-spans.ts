import { context, trace } from '@opentelemetry/api'
import {
  AlwaysOnSampler,
  InMemorySpanExporter,
  NodeTracerProvider,
  ParentBasedSampler,
  SimpleSpanProcessor,
  type ReadableSpan,
  type Sampler,
} from '@opentelemetry/sdk-trace-node'
import { after, before } from 'node:test'

/** A tracer as an app has one, whose spans are kept. */
export interface RecordedSpans {
  readonly tracer: ReturnType<NodeTracerProvider['getTracer']>
  /** Those that have ended, in the order of their beginning. */
  spans(): readonly ReadableSpan[]
  /** The one of this name; fails if there is none, or another. */
  span(name: string): ReadableSpan
}

const usual = () => new ParentBasedSampler({ root: new AlwaysOnSampler() })

export function recordSpans(sampler: Sampler = usual()): RecordedSpans {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({
    sampler,
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  const spans = () => exporter.getFinishedSpans().toSorted((a, b) => beganAt(a) - beganAt(b))
  return {
    tracer: provider.getTracer('shop'),
    spans,
    span(name) {
      const [found, another] = spans().filter((one) => one.name === name)
      if (found === undefined || another !== undefined) {
        const names = spans().map((one) => one.name)
        throw new Error(`${name} is not one of ${names.join(', ')}`)
      }
      return found
    },
  }
}

function beganAt({ startTime: [whole, nano] }: ReadableSpan): number {
  return whole * 1e3 + nano / 1e6
}

/** What keeps the active span is of the whole process: set for the tests of a file alone. */
export function keepActiveSpans(): void {
  before(() => {
    new NodeTracerProvider().register()
  })
  after(() => {
    context.disable()
    trace.disable()
  })
}

export const traceIdOf = (span: ReadableSpan): string => span.spanContext().traceId
export const spanIdOf = (span: ReadableSpan): string => span.spanContext().spanId

/** The trace of what has this id. */
export const traceOf = (id: string): string => id.replaceAll('-', '')

/** Everything that a span says. */
export function textOf(span: ReadableSpan): string {
  const { name, attributes, status, events, links } = span
  return JSON.stringify({ name, attributes, status, events, links })
}
