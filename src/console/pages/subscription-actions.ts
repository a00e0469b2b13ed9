import { html } from 'hono/html'
import { isUuid } from '../../kernel/uuid.ts'
import { unusedAmount } from '../../subscriptions/unused-amount.ts'
import type { SubscriptionDetails } from '../../wire/subscription-details.ts'
import type { Action, Question } from '../action.ts'
import type { Visit } from '../context.ts'
import { shown } from '../parts/shown.ts'
import { amount, time } from '../parts/values.ts'

const idOf = ({ params }: Visit) => params['id'] ?? ''
const back = (visit: Visit) => `${visit.console.path}/subscriptions/${idOf(visit)}`

/** What is asked about a subscription, if there is one. */
function about(
  ask: (found: SubscriptionDetails, visit: Visit, form?: URLSearchParams) => Question,
): Action['question'] {
  return async (visit, form) => {
    const id = idOf(visit)
    const found = isUuid(id) ? await visit.console.core.subscriptions.get(id) : undefined
    return found && { section: 'subscriptions', ...ask(found, visit, form) }
  }
}

/** When it is to happen: with what is paid, or now. */
const when = html`<label
  >When
  <select name="at">
    <option value="period_end">at the end of what is paid</option>
    <option value="now">now</option>
  </select></label
>`

function whenOf(form: URLSearchParams): 'now' | 'period_end' {
  return form.get('at') === 'now' ? 'now' : 'period_end'
}

/** Ends it. */
export const cancelSubscription: Action = {
  name: 'cancelSubscription',
  back,
  question: about((found, { console }) => ({
    title: 'Cancel the subscription?',
    explanation: html`<p>
        <b>At the end of what is paid:</b> access stays until
        ${found.paidUntil === null ? 'then' : time(found.paidUntil, console.now())}, nothing is
        charged any more, and it can be taken back until then. A charge that is under way is waited
        for: if it succeeds, the subscription ends with the new period.
      </p>
      <p>
        <b>Now:</b> access ends at once, and it cannot be taken back. A charge that is under way is
        not waited for: if it succeeds, it needs a person.
      </p>
      <p>${givenBack(found, console.now())}</p>
      ${found.managedBy === 'provider' && askedOf(found)}`,
    fields: when,
    button: 'Cancel the subscription',
  })),
  detail: (form) => ({ at: whenOf(form) }),
  act: async (visit, { form }) => {
    const changed = await visit.console.core.subscriptions.cancel(idOf(visit), { at: whenOf(form) })
    if (changed.status === 'canceled') return { notice: 'subscription_canceled' }
    return { notice: 'subscription_end_planned', outcome: 'planned' }
  },
}

function givenBack(found: SubscriptionDetails, now: Date) {
  const unused = { amount: unusedAmount(found, now), currency: found.currency }
  if (unused.amount === 0n) return html`No money is given back by this.`
  return html`No money is given back by this. Of what is paid, ${amount(unused)} is not used yet: if
  it is to go back, refund it on the page of its payment.`
}

function askedOf({ gateway }: SubscriptionDetails) {
  return html`<p>${gateway} manages it, and is asked for this once, at once.</p>`
}

/** Charges nothing until it is resumed. */
export const pauseSubscription: Action = {
  name: 'pauseSubscription',
  back,
  question: about((found) => ({
    title: 'Pause the subscription?',
    explanation: html`<p>
        Nothing is charged until somebody resumes it. At the end of what is paid, access stays until
        then; now, it ends at once, and what is paid is used first once it is resumed. No money is
        given back.
      </p>
      ${found.managedBy === 'provider' && askedOf(found)}`,
    fields: when,
    button: 'Pause the subscription',
  })),
  detail: (form) => ({ at: whenOf(form) }),
  act: async (visit, { form }) => {
    const changed = await visit.console.core.subscriptions.pause(idOf(visit), { at: whenOf(form) })
    if (changed.status === 'paused') return { notice: 'subscription_paused' }
    return { notice: 'subscription_end_planned', outcome: 'planned' }
  },
}

/** Takes back a planned end or pause, or ends a pause, which may charge. */
export const resumeSubscription: Action = {
  name: 'resumeSubscription',
  movesMoney: true,
  back,
  question: about((found) => ({
    title: 'Resume the subscription?',
    explanation: html`<p>
        A planned end or pause is taken back: nothing else changes. If it is paused, what is paid is
        used first; where nothing is left, a new period begins now, and
        <b>${amount(found)} is charged at once</b>.
      </p>
      ${found.managedBy === 'provider' && askedOf(found)}`,
    button: 'Resume the subscription',
  })),
  act: async (visit) => {
    const changed = await visit.console.core.subscriptions.resume(idOf(visit))
    return { notice: 'subscription_resumed', outcome: changed.status }
  },
}

/** Another plan from the next period on. */
export const changePlan: Action = {
  name: 'changeSubscription',
  back,
  question: about((found, _visit, form) => ({
    title: 'Change the plan?',
    explanation: html`<p>
      From the next period on, the plan's amount and length count. The present period stays as it
      is: nothing is charged or given back now. Quotas stay as they are. The present plan is
      ${found.plan === null ? 'none: the terms were given one by one' : html`<b>${shown(found.plan)}</b>`}.
    </p>`,
    fields: html`<label
      >Name of a plan of the settings
      <input
        name="plan"
        maxlength="64"
        autocomplete="off"
        value="${form?.get('plan') ?? ''}"
        required
    /></label>`,
    button: 'Change the plan',
  })),
  detail: (form) => ({ plan: shown(form.get('plan') ?? '') }),
  act: async (visit, { form }) => {
    const plan = (form.get('plan') ?? '').trim()
    await visit.console.core.subscriptions.change(idOf(visit), { plan })
    return { notice: 'subscription_changed' }
  },
}

/** Asks the provider that manages it how it stands. */
export const syncSubscription: Action = {
  name: 'syncSubscription',
  back,
  question: about((found) => ({
    title: 'Ask now?',
    explanation: html`<p>
      ${found.gateway} is asked how the subscription stands, and its answer is applied: its status
      may change, what was charged there meanwhile is taken, and your listeners may run.
    </p>`,
    button: 'Ask now',
  })),
  act: async (visit) => {
    const { status } = await visit.console.core.subscriptions.sync(idOf(visit))
    return { notice: 'subscription_synced', outcome: status }
  },
}
