import { QuittanceError } from '../../kernel/errors.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { ChargeReply, ChargeRequest } from '../operations.ts'
import { fakeCheckout } from './checkout.ts'
import {
  chargeReference,
  endingOf,
  scriptOf,
  statedOf,
  type FakeEnd,
  type Script,
} from './ending.ts'
import { refuseIfOff } from './refuse-if-off.ts'
import { testCardOf } from './test-card.ts'

/** Ends as the card says, or the amount: see README.md. No money moves. */
export async function chargeSavedCard(
  request: ChargeRequest,
  context: OperationContext,
): Promise<ChargeReply> {
  return endCharge(request, context, endingOf(scriptFor(request), context.now))
}

/** Ends a charge like this, whatever card and amount say. */
export async function endCharge(
  request: ChargeRequest,
  context: OperationContext,
  ending: FakeEnd,
): Promise<ChargeReply> {
  refuseIfOff(context)
  const { payment } = request
  if (ending === 'refused') {
    const providerCode = 'bad_request'
    const text = `the fake gateway refuses the request (${providerCode})`
    throw new QuittanceError('provider_refused', text, { providerCode })
  }
  if (ending === 'slow') await untilAborted(context.signal)
  if (ending === 'slow' || ending === 'lost' || ending === 'cut') {
    throw new QuittanceError('provider_unreachable', 'the fake gateway does not answer')
  }
  return {
    outcomes: statedOf(payment, { ending, age: 0, isOver: false }).outcomes,
    providerReference: chargeReference(payment, ending),
    ...(ending === 'confirm' && { redirectUrl: fakeCheckout.url(request) }),
    ...(ending === 'waiting' && { needsPayer: true }),
  }
}

function scriptFor({ payment, method }: ChargeRequest): Script {
  const card = testCardOf(method.providerReference)
  if (card === undefined) return 'gone'
  return card === 'good' ? scriptOf(payment) : card
}

/** By then nobody waits for the answer. */
function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
