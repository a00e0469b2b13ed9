import { html } from 'hono/html'
import { standingsOf } from '../../billing/standings-of.ts'
import type { WebhookCall } from '../../events/webhook-call.ts'
import type { Html } from '../../http/pages/layout.ts'
import { isUuid } from '../../kernel/uuid.ts'
import type { Payment } from '../../payments/payment.ts'
import { stepFor } from '../../payments/reasons.ts'
import { inWords } from '../../payments/review-words.ts'
import type { Review } from '../../payments/review.ts'
import { callNoun } from '../../wire/call.ts'
import { actionNoun, type OperatorAction } from '../../wire/operator.ts'
import { reviewNoun } from '../../wire/review.ts'
import { type Action, actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { callBadge, paymentBadge } from '../parts/choices.ts'
import { nounFacts, nounTable } from '../parts/noun.ts'
import { reviewBadge } from '../parts/reviews.ts'
import { shown, shownWhole } from '../parts/shown.ts'
import { amount, idLink, idText, modeBadge, nothing, shortId, time } from '../parts/values.ts'
import { outcomesInWords } from '../words/calls.ts'
import { cells } from './reviews.ts'

/** The newest callbacks, and what operators did last. */
const mostRows = 10

/** What the page says above its facts. */
const without = ['state', 'inWords', 'step', 'operator', 'note', 'handledAt']

/** One thing that a person must look at, and what is known of it. */
export async function reviewPage(visit: Visit): Promise<ConsolePage | undefined> {
  const { console, params } = visit
  const { id = '' } = params
  const review = isUuid(id) ? await console.core.reviews.get(id) : undefined
  if (review === undefined) return undefined
  const payment =
    review.paymentId === null ? undefined : await console.core.payments.find(review.paymentId)
  const shownPayment = payment && (await paymentOf(visit, payment))
  const { reference } = review.stated
  const own = {
    ...cells,
    ...(shownPayment && { paymentId: () => shownPayment }),
    ...(reference !== null && {
      stated: (one: Review) => html`${cells.stated(one)} ${idText(reference)}`,
    }),
  }
  const at = `${console.path}/reviews/${review.id}`
  return {
    title: `Review ${shortId(id)}`,
    section: 'reviews',
    beside: html`${reviewBadge(review.state)}
      <span class="actions"
        >${review.state === 'open' && actionLink(visit, `${at}/handle`, 'Handle')}</span
      >`,
    body: html`<p><b>${shown(inWords(review))}</b></p>
      <p>${stepFor(review.reason)}</p>
      ${handledBy(visit, review)} ${nounFacts(reviewNoun, review, { visit, cells: own, without })}
      ${callsOf(visit, await callsAbout(visit, review))}
      ${historyOf(visit, await actionsOn(visit, review))}`,
  }
}

function handledBy({ console }: Visit, { state, operator, note, handledAt }: Review): Html | false {
  if (state === 'open') return false
  const who = operator === null ? 'Nobody has given a name.' : html`By <b>${shown(operator)}</b>,`
  return html`<div class="panel">
    <p>Handled. ${who} ${time(handledAt, console.now())}</p>
    ${note !== null && html`<p>${shownWhole(note)}</p>`}
  </div>`
}

async function paymentOf({ console }: Visit, payment: Payment): Promise<Html> {
  const standing = (await standingsOf(console.core, [payment]))(payment)
  return html`${idLink(`${console.path}/payments/${payment.id}`, payment.id)}
  ${paymentBadge(standing)} ${modeBadge(payment.live)} ${amount(payment)}`
}

/** The one that said it first, and the newest about the same payment. */
async function callsAbout({ console }: Visit, review: Review): Promise<readonly WebhookCall[]> {
  const { calls } = console.core
  const { webhookCallId, paymentId } = review
  const first = webhookCallId === null ? undefined : await calls.find(webhookCallId)
  const others = paymentId === null ? [] : (await calls.list({ paymentId, limit: mostRows })).data
  return [
    ...(first === undefined ? [] : [first]),
    ...others.filter(({ id }) => id !== webhookCallId),
  ]
}

function callsOf(visit: Visit, calls: readonly WebhookCall[]): Html {
  return html`<h2>Callbacks</h2>
    ${nounTable(callNoun, calls, {
      visit,
      columns: ['id', 'state', 'outcome', 'receivedAt'],
      cells: {
        state: ({ state }) => callBadge(state),
        outcome: ({ outcome }) => (outcome === null ? nothing : shown(outcomesInWords(outcome))),
      },
      caption: 'The callback that said it first, then the newest about the payment',
      empty:
        'No callback of it is stored: it was found by asking the provider, or is deleted by now.',
    })}`
}

async function actionsOn({ console }: Visit, { id }: Review): Promise<readonly OperatorAction[]> {
  return (await console.core.operators.actions({ subject: id, limit: mostRows })).data
}

function historyOf(visit: Visit, actions: readonly OperatorAction[]): Html {
  const columns = ['at', 'operator', 'action', 'outcome']
  return html`<h2>What operators did</h2>
    ${nounTable(actionNoun, actions, { visit, columns, empty: 'Nothing yet.' })}`
}

/** Says that a person has looked. Who, is whoever is signed in: the form cannot say. */
export const handleReview: Action = {
  name: 'handleReview',
  back: ({ console, params }) => `${console.path}/reviews/${params['id']}`,
  question: async ({ console, params }) => {
    const { id = '' } = params
    const review = isUuid(id) ? await console.core.reviews.get(id) : undefined
    if (review === undefined) return undefined
    return {
      title: 'Handle the review?',
      section: 'reviews',
      explanation: html`<p><b>${shown(inWords(review))}</b></p>
        <p>${stepFor(review.reason)}</p>
        <p>
          The review is closed, and its callbacks lose their mark. No money moves by it. The same
          said again opens nothing.
        </p>`,
      fields: html`<input type="hidden" name="version" value="${review.version}" />
        <label
          >What you found, and what you did
          <textarea name="note" maxlength="2000" required></textarea>
        </label>`,
      button: review.state === 'open' ? 'It is handled' : undefined,
    }
  },
  detail: (form) => ({ note: shown(noteIn(form)) }),
  act: async ({ console, params, visitor }, { form }) => {
    const version = form.get('version') ?? ''
    await console.core.reviews.handle(params['id'] ?? '', {
      note: noteIn(form),
      operator: visitor.name,
      // What is no number at all is refused there.
      ...(version !== '' && { version: Number(version) }),
    })
    return { notice: 'handled' }
  },
}

/** In one line, which is what a note may be: the field has several. */
function noteIn(form: URLSearchParams): string {
  return (form.get('note') ?? '').replaceAll(/\s+/g, ' ').trim()
}
