import { inSpan, type OpenSpan } from '../kernel/spans.ts'
import type { LeasedCall } from '../queue/calls.ts'
import type { ProcessingContext } from './context.ts'
import type { CallEnd, EndedCall } from './end-calls.ts'
import { stateOf } from './finish-calls.ts'

/** One attempt at a call: all that it takes, also where it goes on alone after a batch. */
export function inCallSpan(
  call: LeasedCall,
  { spans }: Pick<ProcessingContext, 'spans'>,
  work: (span?: OpenSpan) => Promise<CallEnd>,
): Promise<CallEnd> {
  const { id, gateway, attempts } = call
  const about = () => {
    const attributes = {
      'quittance.gateway': gateway,
      'quittance.call.id': id,
      'quittance.attempt': attempts + 1,
    }
    return { name: 'process call', kind: 'CONSUMER', attributes } as const
  }
  return inSpan(spans?.of(id), about, async (span) => {
    const end = await work(span)
    if (end !== 'done') span?.failed(end)
    return end
  })
}

/** What became of it in its transaction. */
export function markEnd(span: OpenSpan, ended: EndedCall): void {
  if (ended.kind === 'done') span.set({ 'quittance.call.state': stateOf(ended.applied) })
  else if ('error' in ended) span.threw(ended.error)
}
