import { randomUUID } from 'node:crypto'
import { html } from 'hono/html'
import { card, page, type Html } from './layout.ts'
import { magazine, plans, price, type Plan } from './magazine.ts'

export function frontPage(readers: number): Html {
  return page(
    magazine.name,
    html`<div class="front">
      <div class="cover" aria-hidden="true">
        <strong>${magazine.name}</strong>
        <span>No. 12</span>
      </div>
      <div>
        <h1>${magazine.about}</h1>
        <p class="faint">${readers === 1 ? 'One reader' : `${readers} readers`} so far</p>
      </div>
      ${planForm('monthly', {
        price: `${price(plans.monthly)} a month`,
        terms: 'Cancel whenever you like.',
        button: 'Subscribe',
      })}
      ${planForm('yearly', {
        price: `${price(plans.yearly)} a year`,
        terms: `The first ${plans.yearly.trialDays} days are free. No card needed.`,
        button: 'Try it',
      })}
    </div>`,
  )
}

interface Offer {
  readonly price: string
  readonly terms: string
  readonly button: string
}

/** The id of the subscription is made with the page: pressed twice, it is one. */
function planForm(plan: Plan, offer: Offer): Html {
  return html`<form class="card plan" method="post" action="/subscribe">
    <h2>${offer.price}</h2>
    <p>${offer.terms}</p>
    <input type="hidden" name="id" value="${randomUUID()}" />
    <button name="plan" value="${plan}">${offer.button}</button>
  </form>`
}

export function issuePage(): Html {
  return page(
    'This issue',
    html`<article>
      <h1>The slip that came back</h1>
      <p>
        A receipt is folded once by the shop and once more by the pocket. What is left of it a year
        later can be read by light from the side, and this issue does so.
      </p>
      <p>Enjoy reading: you have access.</p>
    </article>`,
  )
}

export function lockedPage(): Html {
  return card(
    'For subscribers',
    html`<p>This issue is open to those who subscribe.</p>
      <p><a class="button" href="/account">See your subscription</a></p>`,
  )
}

export function sorryPage(text: string): Html {
  return card('Sorry', html`<p>${text}</p>`)
}
