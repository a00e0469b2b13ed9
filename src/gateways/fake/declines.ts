import type { DeclineKind } from '../../payments/decline.ts'

/** The codes of its own declines, and of those that a callback names. */
export const declines: ReadonlyMap<string, DeclineKind> = new Map<string, DeclineKind>([
  ['insufficient_funds', 'soft'],
  ['stolen_card', 'hard'],
  ['no_such_card', 'hard'],
  ['authentication_required', 'authentication'],
])
