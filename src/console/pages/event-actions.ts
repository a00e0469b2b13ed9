import { html } from 'hono/html'
import { isUuid } from '../../kernel/uuid.ts'
import type { Action } from '../action.ts'
import type { Visit } from '../context.ts'
import { shown } from '../parts/shown.ts'

const idOf = ({ params }: Visit) => params['id'] ?? ''

/** Sends it to one endpoint, whatever has become of it there. */
export const resendEvent: Action = {
  name: 'resendEvent',
  back: (visit) => `${visit.console.path}/events/${idOf(visit)}`,
  question: async (visit, form) => {
    const { core } = visit.console
    const id = idOf(visit)
    const found = isUuid(id) ? await core.events.get(id) : undefined
    if (found === undefined) return undefined
    const endpoints = await core.endpoints.list()
    const wanted = form?.get('endpoint') ?? visit.url.searchParams.get('endpoint')
    return {
      title: 'Resend the event?',
      section: 'events',
      explanation: html`<p>
        ${shown(found.type)} is sent to the endpoint once more, under the same id, also if it had it
        already: an app that keeps the ids that it has had ignores it. What it is about is sent as
        it stands now. A disabled endpoint gets it once it is enabled.
      </p>`,
      fields: html`<label
        >Endpoint
        <select name="endpoint" required>
          ${endpoints.map(
            ({ name, enabled }) =>
              html`<option value="${name}" ${name === wanted && 'selected'}>
                ${name}${enabled ? '' : ' (disabled)'}
              </option>`,
          )}
        </select></label
      >`,
      button: 'Resend',
    }
  },
  detail: (form) => ({ endpoint: shown(form.get('endpoint') ?? '') }),
  act: async (visit, { form }) => {
    await visit.console.core.endpoints.resend(form.get('endpoint') ?? '', idOf(visit))
    return { notice: 'event_resent' }
  },
}
