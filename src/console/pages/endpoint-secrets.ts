import { html } from 'hono/html'
import { eventTypes, isEventType } from '../../events/catalogue.ts'
import type { Html } from '../../http/pages/layout.ts'
import { isEndpointName } from '../../outbound/endpoint-input.ts'
import type { CreatedEndpoint } from '../../billing/endpoint-types.ts'
import type { Action, ShownOnce } from '../action.ts'
import type { Visit } from '../context.ts'
import { aboutEndpoint, nameOf, ofEndpoint } from './endpoint-actions.ts'

/** A new secret, which the old one outlives by a day. */
export const rotateSecret: Action = {
  ...ofEndpoint,
  name: 'rotateEndpointSecret',
  question: aboutEndpoint(({ name }) => ({
    title: `Rotate the secret of ${name}?`,
    explanation: html`<p>
      A new secret is made and shown once, on the next page: give it to the app within 24 hours.
      Until then both sign each request; after that the old one no longer does. It cannot be taken
      back.
    </p>`,
    button: 'Rotate the secret',
  })),
  act: async (visit) =>
    secretShown(visit, await visit.console.core.endpoints.rotateSecret(nameOf(visit))),
}

/** A new endpoint. */
export const addEndpoint: Action = {
  name: 'createEndpoint',
  back: ({ console }) => `${console.path}/endpoints`,
  subject: (_visit, form) => {
    const name = form.get('name') ?? ''
    return isEndpointName(name) ? name : null
  },
  // Not the path: it may be as good as a password, and viewers read the audit.
  detail: (form) => ({
    origin: URL.parse(form.get('url') ?? '')?.origin ?? '',
    types: typesOf(form),
  }),
  question: async (_visit, form) => ({
    title: 'Add an endpoint',
    section: 'endpoints',
    explanation: html`<p>
      Events from now on are sent to it, each as a signed request. Its secret is shown once, on the
      next page.
    </p>`,
    fields: fieldsOf(form),
    button: 'Add the endpoint',
  }),
  act: async (visit, { form }) => {
    const types = typesOf(form)
    const created = await visit.console.core.endpoints.create({
      name: (form.get('name') ?? '').trim(),
      url: (form.get('url') ?? '').trim(),
      ...(types.length > 0 && { eventTypes: types }),
    })
    return secretShown(visit, created)
  },
}

function typesOf(form: URLSearchParams) {
  return form.getAll('type').filter(isEventType)
}

function fieldsOf(form: URLSearchParams | undefined): Html {
  const chosen = new Set(form?.getAll('type'))
  return html`<label
      >Name: small letters, digits, ".", "_" or "-"
      <input
        name="name"
        maxlength="64"
        autocomplete="off"
        value="${form?.get('name') ?? ''}"
        required
    /></label>
    <label
      >URL: https, and public
      <input
        type="url"
        name="url"
        maxlength="2000"
        autocomplete="off"
        placeholder="https://app.example.com/hooks"
        value="${form?.get('url') ?? ''}"
        required
    /></label>
    <fieldset>
      <legend>Events: all but those of browsers, if none is marked</legend>
      ${eventTypes.map(
        (type) =>
          html`<label class="check"
            ><input type="checkbox" name="type" value="${type}" ${chosen.has(type) && 'checked'} />
            ${type}</label
          >`,
      )}
    </fieldset>`
}

/** On the page that answers the form, and nowhere else: no address, no log, no audit has it. */
function secretShown({ console }: Visit, { endpoint, secret }: CreatedEndpoint): ShownOnce {
  return {
    page: {
      title: `Secret of ${endpoint.name}`,
      section: 'endpoints',
      body: html`<div class="panel ask">
        <p><b>It is shown this once.</b> Give it to the app; it verifies each request by it.</p>
        <pre tabindex="0">${secret}</pre>
        <p class="actions">
          <a class="button" href="${console.path}/endpoints/${endpoint.name}">To the endpoint</a>
        </p>
      </div>`,
    },
  }
}
