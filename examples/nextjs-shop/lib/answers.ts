import { isQuittanceError } from 'quittance'

/** Nothing on these pages was typed by a payer; what is must be escaped. */
export function page(title: string, body: string, status = 200): Response {
  const text = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>${title}</title>
  </head>
  <body>
    <h1>${title}</h1>
    ${body}
    <p><a href="/">Shop</a></p>
  </body>
</html>`
  return new Response(text, { status, headers: { 'content-type': 'text/html; charset=utf-8' } })
}

export function seeOther(location: string): Response {
  return new Response(null, { status: 303, headers: { location } })
}

/**
 * What a payer is told of an error of Quittance's, such as `checkout_unknown`: the provider has not
 * answered, and the order page shows what comes.
 */
export function explain(error: unknown): Response {
  if (!isQuittanceError(error)) throw error
  console.error(error.message)
  return page('Sorry', `<p>That did not work (${error.code}).</p>`, 409)
}
