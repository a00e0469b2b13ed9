import type { ScannedCalls, ScanQuery } from '../inspect/scan-calls.ts'
import type { Found } from '../wire/found.ts'

/** `billing.inspect`: what the people who run it look at. */
export interface InspectOperations {
  /**
   * What a text may name, by exact match: an id of ours; a provider's id or checkout reference; a
   * payable or its id; a customer's id, e-mail or phone; metadata that `search.metadata` names; the
   * number of an invoice; an amount and a day, such as `19.99 EUR yesterday`. Error: query_invalid.
   */
  find(text: string): Promise<Found>
  /**
   * Stored callbacks whose payload contains a text, newest first: 20,000 are looked at, or those of two
   * seconds, and `nextCursor` looks further. What is masked or encrypted is not found. Errors:
   * query_invalid, cursor_invalid.
   */
  callsWith(query: ScanQuery): Promise<ScannedCalls>
}
