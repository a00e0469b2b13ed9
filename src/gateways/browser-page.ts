import type { Credentials } from './credential-fields.ts'

/**
 * A page that a gateway wants the payer's browser to open on our side, such as one that loads the
 * provider's script. It is data: what it looks like, and that nothing of it runs inline, is the
 * business of whoever serves it.
 */
export interface BrowserPage {
  /** One word: the page is at `/billing/{name or alias}/{path}`. */
  readonly path: string
  /** A classic script, run after `sources`; what it needs is in the `data-` attributes of `main`. */
  readonly script: string
  content(query: URLSearchParams, credentials: Credentials): BrowserPageContent
}

/** What such a page holds for one query. */
export interface BrowserPageContent {
  /** 400: the address is wrong; 503: a setting is missing. */
  readonly status: 200 | 400 | 503
  readonly heading: string
  /** A paragraph each; the script may change the first, which has the id `news`. */
  readonly texts: readonly string[]
  /** What there is besides text; absent where there is nothing to run. */
  readonly active?: {
    /** Values of `data-` attributes, by their names. Everybody can read them. */
    readonly data: Readonly<Record<string, string>>
    /** Scripts of the provider. */
    readonly sources: readonly string[]
    /** The text of a button with the id `again`, hidden until the script shows it. */
    readonly button: string
    /** On top of the style of our pages. */
    readonly style?: string
    /** What the provider's script loads, by directive of the content security policy. */
    readonly policy: Readonly<
      Partial<
        Record<
          'script-src' | 'style-src' | 'img-src' | 'connect-src' | 'frame-src',
          readonly string[]
        >
      >
    >
  }
}
