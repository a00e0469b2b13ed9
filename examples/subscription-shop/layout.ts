import { html } from 'hono/html'
import { magazine } from './magazine.ts'

export type Html = ReturnType<typeof html>

/** What is put into a template is escaped. */
export function page(title: string, body: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        <header>
          <a class="brand" href="/">${magazine.name}</a>
          <nav><a href="/issue">This issue</a> <a href="/account">Account</a></nav>
        </header>
        <main>${body}</main>
        <footer>A magazine about paper</footer>
      </body>
    </html>`
}

export function card(title: string, body: Html): Html {
  return page(
    title,
    html`<section class="card">
      <h1>${title}</h1>
      ${body}
    </section>`,
  )
}
