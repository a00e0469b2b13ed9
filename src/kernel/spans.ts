/** What makes spans: a tracer of OpenTelemetry, such as `trace.getTracer('my-app')` gives. */
export interface Tracer {
  startSpan(name: string, options?: object, context?: object): object
}

/** Names, ids and numbers of ours: never a text that somebody else has written. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>

export interface SpanAbout {
  readonly name: string
  readonly kind: 'INTERNAL' | 'SERVER' | 'CLIENT' | 'PRODUCER' | 'CONSUMER'
  readonly attributes: SpanAttributes
  /** By `performance.now()`, if it began before it is made. */
  readonly startTime?: number
  /** Something came in here: it and the span that is active, if any, lead to each other. */
  readonly isEntry?: true
}

/** What spans are made below. */
export interface SpanParent {
  /**
   * Runs the work, once, with a span of its own that is active meanwhile; rejects as the work does,
   * and then the span says so.
   */
  run<T>(about: SpanAbout, work: (span: OpenSpan) => Promise<T>): Promise<T>
}

/** A span that has not ended. Of several failures it shows the first. */
export interface OpenSpan extends SpanParent {
  set(attributes: SpanAttributes): void
  /** It failed, and a word of ours says why. */
  failed(reason: string): void
  /** The same, for what was thrown: its type and its first line are shown, without secrets. */
  threw(error: unknown): void
}

/** The spans of this process. Whatever the tracer does, the work is done. */
export interface Spans {
  /**
   * The trace of a stored call, or of an event that came without one, by its id: the id is also that
   * of the trace, so that processes agree on it and nothing is stored.
   */
  of(id: string): SpanParent
  /** Below whatever is active. */
  readonly active: SpanParent
  /** The same work, with what is active now, whenever it runs. */
  bind(work: () => unknown): () => unknown
}

/** Runs the work in a span below the parent; without one, which is without a tracer, just so. */
export function inSpan<T>(
  parent: SpanParent | undefined,
  about: () => SpanAbout,
  work: (span?: OpenSpan) => Promise<T>,
): Promise<T> {
  return parent === undefined ? work() : parent.run(about(), work)
}
