import { seriesName, invoiceSeller, timeZone, wholeNumber } from './setting-types.ts'
import { setting } from './setting.ts'

const none: readonly string[] = []

/** Of documents: see docs/15-invoices.md. */
export const invoices = {
  /**
   * Who sells, as it stands on every document: `{ name, address, tax_id, registration_number, email,
   * phone, bank_details, note }`; `address` and `bank_details` are lists of lines. Unset: none are
   * issued.
   */
  seller: setting(invoiceSeller, { variables: none }),
  /**
   * Name of the series in which documents are numbered from 1 on: letters, digits, `-`, `_`, `.`, `/`,
   * and `{year}`, `{month}` of the issue. Documents of test money count in one of their own, with
   * `TEST-` before it.
   * @default INV-{year}
   */
  series: setting(seriesName, { default: 'INV-{year}', variables: none }),
  /**
   * Days until a document is due; 0: at once.
   * @default 0
   */
  dueDays: setting(wholeNumber('of days ', 0, 365), { default: 0, variables: none }),
  /**
   * IANA name of the time zone in whose days a year of a series, and a month of an export, begins.
   * @default UTC
   */
  timeZone: setting(timeZone, { default: 'UTC', variables: none }),
}
