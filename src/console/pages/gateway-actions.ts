import { html } from 'hono/html'
import type { Action } from '../action.ts'
import { askRegistration } from '../asked-registrations.ts'
import { gatewayOf } from './gateway.ts'

/** Asks the provider which callback URLs it has. Nothing is changed there. */
export const checkRegistration: Action = {
  name: 'readRegistration',
  back: ({ console, params }) => `${console.path}/gateways/${params['name']}`,
  subject: ({ params }) => params['name'] ?? null,
  question: async (visit) => {
    const found = gatewayOf(visit)
    if (found?.gateway.capabilities.registerWebhook !== true) return undefined
    return {
      title: 'Check the registration?',
      section: 'gateways',
      explanation: html`<p>
        ${found.gateway.title} is asked which callback URLs it has, and which events it sends there.
        Nothing is changed. The answer is shown for 10 minutes.
      </p>`,
      button: 'Ask the provider',
    }
  },
  act: async (visit) => {
    const name = gatewayOf(visit)?.gateway.name ?? visit.params['name'] ?? ''
    const { answer } = await askRegistration(visit.console, name)
    return {
      notice: 'registration_read',
      to: `/gateways/${name}?registration=shown`,
      outcome: answer.kind === 'read' ? 'done' : 'failed',
    }
  },
}
