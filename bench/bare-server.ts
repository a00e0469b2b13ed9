/** Baseline: what Node can do at most. Checks the signature, parses the body, stores nothing. */
import { serve } from './serve-plainly.ts'

serve(() => {})
