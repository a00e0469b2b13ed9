import { list, text, tokens, wholeNumber, yesOrNo } from './setting-types.ts'
import { setting } from './setting.ts'

const hostName = text.regex(/^[^\s/]+$/, 'must be a host name or address')
/** Of each, several may hold, while it is changed. */
const token = {
  secret: true,
  fix: 'Make one with: openssl rand -base64 32; separate several by commas.',
}

/** What `serve` alone takes, from the environment. */
export const processSettings = {
  /**
   * Address to listen on.
   * @default `127.0.0.1`; in production `0.0.0.0`
   */
  host: setting(hostName, { variables: ['HOST'] }),
  /**
   * Port to listen on; `0` for any free one.
   * @default 3000
   */
  port: setting(wholeNumber('', 0, 65_535), { default: 3000, variables: ['PORT'] }),
  /**
   * Bearer token of the management API: `openssl rand -base64 32`. After ten wrong ones in a
   * minute, 429. Several are separated by commas: see docs/16-api.md#tokens. Operators may have tokens
   * of their own: see docs/5-operations.md#operators.
   * @default made for each run; in production none
   */
  apiToken: setting(tokens, token),
  /**
   * Bearer token that may read the management API and change nothing: for a reader of the feed of
   * events. Several are separated by commas.
   * @default none
   */
  readToken: setting(tokens, token),
  /**
   * Bearer token of `/metrics`. Outside production the metrics need no token. In production, without
   * a token, only the port for operations serves them. Several are separated by commas.
   * @default none
   */
  metricsToken: setting(tokens, token),
  console: {
    /**
     * Whether operators have a console, at `/billing/console`: see docs/19-console.md.
     * @default on; in production off
     */
    on: setting(yesOrNo, { variables: ['BILLING_CONSOLE'] }),
    /**
     * Names under which it is reached, besides the host of the public URL and this machine's own:
     * at any other, it answers 421.
     */
    hosts: setting(list(hostName, 'must be names such as admin.example.com'), {
      default: [],
      fix: 'A variable separates several by commas.',
    }),
  },
  operations: {
    /**
     * A port for operators alone, of `serve` and of `work`: `/metrics`, without a token, and of a
     * single process the console, which are then no longer on the other port; of a single process
     * also `/healthz` and `/readyz`.
     * @default none
     */
    port: setting(wholeNumber('', 0, 65_535)),
    /**
     * Address of the port for operations.
     * @default 127.0.0.1
     */
    host: setting(hostName, { default: '127.0.0.1' }),
  },
}
