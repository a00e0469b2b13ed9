import type { SpanAbout, Spans } from '../kernel/spans.ts'
import type { NewCall } from './insert-calls.ts'
import { processingFailed, unavailable, type Answer } from './responses.ts'

/** The span of one callback, made once it is known whose it is. */
export interface CallbackTrace {
  /**
   * It is no call's: it belongs to whatever request it came with, and is sampled like that one, as
   * anybody can cause any number of them.
   */
  refused(refusal: CallbackRefusal): void
  /** In the trace of its call. */
  accepted(call: Pick<NewCall, 'id' | 'gateway'>, work: () => Promise<Answer>): Promise<Answer>
}

interface CallbackRefusal {
  /** Undefined: what the sender named is none. */
  readonly gateway: string | undefined
  readonly reason: string
  readonly status: number
}

const status = 'http.response.status_code'

export function traceCallback(spans: Spans): CallbackTrace {
  const startTime = performance.now()
  const about = (attributes: SpanAbout['attributes']): SpanAbout => {
    return { name: 'callback', kind: 'SERVER', startTime, isEntry: true, attributes }
  }
  return {
    refused({ gateway, reason, status: answered }) {
      const attributes = { 'quittance.gateway': gateway, [status]: answered }
      void spans.active.run(about(attributes), async (span) => span.failed(reason))
    },
    accepted({ id, gateway }, work) {
      const attributes = { 'quittance.gateway': gateway, 'quittance.call.id': id }
      return spans.of(id).run(about(attributes), async (span) => {
        const answer = await work()
        span.set({ [status]: answer.status })
        if (answer === unavailable) span.failed('unavailable')
        if (answer === processingFailed) span.failed('processing_failed')
        return answer
      })
    },
  }
}
