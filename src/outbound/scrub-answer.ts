import { scrubber, type Secret } from '../kernel/secret.ts'

interface Scrubbing {
  /** Blanks out known secrets. */
  scrub(text: string): string
}

/** What an endpoint answers may repeat its own secrets, which may be in the database alone. */
export function scrubOf(
  secrets: readonly Secret[],
  { scrub }: Scrubbing,
): (text: string) => string {
  return (text) => scrub(scrubber(secrets)(text))
}
