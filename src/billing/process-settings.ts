import { text, wholeNumber } from './setting-types.ts'
import { setting } from './setting.ts'

const token = text.regex(/^[\x21-\x7e]+$/, 'must be a text without spaces')

/** What `serve` alone takes, from the environment. */
export const processSettings = {
  /**
   * Address to listen on.
   * @default `127.0.0.1`; in production `0.0.0.0`
   */
  host: setting(text.regex(/^[^\s/]+$/, 'must be a host name or address'), {
    variables: ['HOST'],
  }),
  /**
   * Port to listen on; `0` for any free one.
   * @default 3000
   */
  port: setting(wholeNumber('', 0, 65_535), { default: 3000, variables: ['PORT'] }),
  /**
   * Bearer token of the management API: `openssl rand -base64 32`. After ten wrong ones in a
   * minute, 429.
   * @default made for each run; in production the API is off
   */
  apiToken: setting(token, { secret: true }),
  /**
   * Bearer token that may read the management API and change nothing: for whoever reads the feed of
   * events.
   * @default none
   */
  readToken: setting(token, { secret: true }),
}
