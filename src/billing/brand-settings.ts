import { brandColor, brandLogo, brandName, brandSupport } from './setting-types.ts'
import { setting } from './setting.ts'

export const brand = {
  /** Name of the shop, at the head of the pages that payers see and in their titles. */
  name: setting(brandName),
  /** An image beside the name: an https URL, or a `data:` URL of at most 64 KiB. */
  logo: setting(brandLogo),
  /**
   * Colour of the main button, such as `#0b6b3a`; in `.env` without the `#`. The text on it is white,
   * or black where white could not be read.
   */
  color: setting(brandColor),
  /** Where payers find help: an e-mail address, a phone number or an https URL. */
  support: setting(brandSupport),
}
