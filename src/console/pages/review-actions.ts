import { html } from 'hono/html'
import { isUuid } from '../../kernel/uuid.ts'
import { stepFor } from '../../payments/reasons.ts'
import { inWords } from '../../payments/review-words.ts'
import type { Action } from '../action.ts'
import { shown } from '../parts/shown.ts'

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
